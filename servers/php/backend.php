<?php
// How the front calls what is behind it: with curl, over HTTP/1.1 with JSON or over HTTP/2 with a gRPC message.
//
// The front's settings are variables of its environment:
//   BACKEND          none (the front answers by itself), http or grpc
//   BACKEND_ADDR     host:port of 'bakeoff serve http' or 'bakeoff serve grpc'
//   BACKEND_REUSE    1: a worker keeps its connection to the backend from call to call; 0: each call has one of its own
//   BACKEND_TIMEOUT  how long a call may take, in milliseconds (10000)
//   MAX_MESSAGE      the largest message either way, in bytes (4194304)

declare(strict_types=1);

final class Backend
{
    private ?CurlHandle $handle = null;

    private function __construct(public readonly string $kind, private readonly string $addr, private readonly bool $reuse, public readonly int $timeout)
    {
    }

    /** Reads the settings; what is wrong with them is the exception's message. */
    public static function ofEnvironment(): self
    {
        $value = static fn (string $name, string $default): string => ($v = getenv($name)) === false ? $default : $v;
        $kind = $value('BACKEND', 'none');
        if (!in_array($kind, ['none', 'http', 'grpc'], true)) {
            throw new InvalidArgumentException("BACKEND is '$kind': must be none, http or grpc");
        }
        $addr = $value('BACKEND_ADDR', '');
        if ($kind !== 'none' && preg_match('/\A[^\s\/@?#]+:[0-9]+\z/', $addr) !== 1) {
            throw new InvalidArgumentException("BACKEND_ADDR is '$addr': must be host:port of 'bakeoff serve $kind'");
        }
        $reuse = $value('BACKEND_REUSE', '0');
        if ($reuse !== '0' && $reuse !== '1') {
            throw new InvalidArgumentException("BACKEND_REUSE is '$reuse': must be 0 or 1");
        }
        $timeout = $value('BACKEND_TIMEOUT', '10000');
        if (preg_match('/\A[1-9][0-9]{0,8}\z/', $timeout) !== 1) {
            throw new InvalidArgumentException("BACKEND_TIMEOUT is '$timeout': must be milliseconds, from 1 to 999999999");
        }
        if (MAX_MESSAGE < 1) {
            throw new InvalidArgumentException("MAX_MESSAGE is '" . getenv('MAX_MESSAGE') . "': must be bytes, from 1");
        }
        if ($kind !== 'none' && !extension_loaded('curl')) {
            throw new InvalidArgumentException("BACKEND=$kind needs PHP's curl extension: Debian has it in php-curl");
        }
        if ($kind === 'grpc' && !(curl_version()['features'] & CURL_VERSION_HTTP2)) {
            throw new InvalidArgumentException('BACKEND=grpc needs a libcurl with HTTP/2, which this one was built without');
        }
        return new self($kind, $addr, $reuse === '1', (int) $timeout);
    }

    /** Calls DataType within so many milliseconds. */
    public function dataType(array $rq, int $timeout): array
    {
        if ($this->kind === 'none') {
            return alone($rq);
        }
        if ($this->kind === 'grpc') {
            return $this->grpc('DataType', encodeDataTypeRq($rq), decodeDataTypeRp(...), $timeout);
        }
        return $this->http('/v1/datatype', $rq, readDataType(...), $timeout);
    }

    /** Calls Login within so many milliseconds. */
    public function login(array $rq, int $timeout): array
    {
        if ($this->kind === 'none') {
            throw new Refused('invalid_argument', 'this front has no backend (BACKEND=none), and asks for no login');
        }
        if ($this->kind === 'grpc') {
            return $this->grpc('Login', encodeLoginRq($rq), decodeLoginRp(...), $timeout);
        }
        return $this->http('/v1/login', $rq, readSession(...), $timeout);
    }

    private function http(string $path, array $rq, callable $read, int $timeout): array
    {
        [$status, , $body] = $this->post($path, toJSON($rq), ['Content-Type: application/json'], CURL_HTTP_VERSION_1_1, $timeout);
        if ($status !== 200) {
            throw httpRefusal($status, $body);
        }
        try {
            return $read(fromJSON($body));
        } catch (Refused $e) {
            throw new Refused('internal', 'the backend answered what can not be read: ' . $e->getMessage());
        }
    }

    private function grpc(string $method, string $message, callable $decode, int $timeout): array
    {
        $headers = ['Content-Type: application/grpc', 'TE: trailers', 'grpc-timeout: ' . grpcTimeout($timeout)];
        [$status, $fields, $body] = $this->post("/inf.Data/$method", frame($message), $headers, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE, $timeout);
        $code = $fields['grpc-status'] ?? '';
        if (preg_match('/\A[0-9]{1,4}\z/', $code) !== 1) {
            throw $status === 200 ? new Refused('internal', 'the backend answered without a grpc-status') : httpRefusal($status, $body);
        }
        if ($code !== '0') {
            throw grpcRefusal((int) $code, $fields['grpc-message'] ?? '', $fields['grpc-status-details-bin'] ?? '');
        }
        try {
            return $decode(unframe($body));
        } catch (UnexpectedValueException $e) {
            throw new Refused('internal', 'the backend answered what can not be read: ' . $e->getMessage());
        }
    }

    /**
     * One request, its own connection or the one that is kept. No proxy of the environment comes between. libcurl sends a request again, once
     * and by itself, when a kept connection turns out to be closed before a byte of the answer has come; it has no option against that.
     *
     * @return array{int, array<string, string>, string} status, headers and trailers, body
     */
    private function post(string $path, string $body, array $headers, int $version, int $timeout): array
    {
        if ($this->handle === null || !$this->reuse) {
            $this->handle = curl_init();
        } else {
            curl_reset($this->handle); // of its options; its connection stays
            if ($version === CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE && curl_version()['version_number'] < 0x080000) {
                // Before 8.0.0, libcurl begins HTTP/2 on a kept connection a second time, and fails (curl's issue 10634). Told nothing, it goes
                // on with what the connection speaks. Should that be closed by now, this call fails, and the next begins anew.
                $version = CURL_HTTP_VERSION_2TLS;
            }
        }
        $fields = [];
        curl_setopt_array($this->handle, [
            CURLOPT_URL => "http://{$this->addr}$path",
            CURLOPT_POSTFIELDS => $body,
            CURLOPT_HTTPHEADER => [...$headers, 'Expect:'],
            CURLOPT_HTTP_VERSION => $version,
            CURLOPT_TIMEOUT_MS => $timeout,
            CURLOPT_NOSIGNAL => true, // else no timeout below a second
            CURLOPT_PROXY => '',
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP,
            CURLOPT_FORBID_REUSE => !$this->reuse,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_HEADERFUNCTION => static function ($handle, string $line) use (&$fields): int {
                if (str_contains($line, ':')) { // those behind the body, too
                    [$name, $value] = explode(':', $line, 2);
                    $fields[strtolower($name)] = trim($value);
                }
                return strlen($line);
            },
        ]);
        $answer = curl_exec($this->handle);
        if ($answer === false) {
            $why = "{$this->kind} backend at {$this->addr}: " . curl_error($this->handle);
            $late = curl_errno($this->handle) === CURLE_OPERATION_TIMEDOUT;
            $this->handle = null; // its connection may be anywhere within an answer
            throw $late ? new Refused('deadline_exceeded', "deadline exceeded after $timeout ms: $why") : new Refused('unavailable', $why);
        }
        if (strlen($answer) > MAX_MESSAGE + 5) {
            throw new Refused('resource_exhausted', 'the answer is larger than the limit of ' . MAX_MESSAGE . ' bytes', '', 413);
        }
        return [curl_getinfo($this->handle, CURLINFO_RESPONSE_CODE), $fields, $answer];
    }
}

/** The answer of a front that has no backend: the one published pair, which is what the baseline is asked for. */
function alone(array $rq): array
{
    if ($rq['groupName'] !== 'USER_EVENT' || $rq['enName'] !== 'app_call_connect_success') {
        throw new Refused('not_found', "a front without a backend knows USER_EVENT|app_call_connect_success alone, not {$rq['groupName']}|{$rq['enName']}");
    }
    return ['authRp' => ['token' => $rq['authRq']['token']], 'codeId' => 101, 'cnName' => '語音接通'];
}

/** Milliseconds as the grpc-timeout header has them: eight digits and a unit. */
function grpcTimeout(int $ms): string
{
    return $ms < 100000000 ? "{$ms}m" : intdiv($ms, 1000) . 'S';
}

/** What an answer whose status is no success says: a problem, or what its status means where somebody else made it. */
function httpRefusal(int $status, string $body): Refused
{
    $problem = json_decode($body, true);
    $member = static fn (string $name): string => is_array($problem) && is_string($problem[$name] ?? null) ? $problem[$name] : '';
    foreach (CODES as [$kind]) {
        if ($kind === $member('code')) {
            return new Refused($kind, $member('detail'), cleanCause($member('cause')), $status === 413 ? 413 : 0);
        }
    }
    $kind = match (true) {
        in_array($status, [401, 403], true) => 'unauthenticated',
        in_array($status, [404, 410], true) => 'not_found',
        in_array($status, [502, 503], true) => 'unavailable',
        in_array($status, [408, 504], true) => 'deadline_exceeded',
        in_array($status, [413, 429, 431], true) => 'resource_exhausted',
        $status >= 400 && $status < 500 => 'invalid_argument',
        default => 'internal',
    };
    return new Refused($kind, $member('detail') !== '' ? $member('detail') : "the backend answered with status $status");
}

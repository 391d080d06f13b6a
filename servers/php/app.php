<?php
// The front: the DataType and Login of bakeoff's HTTP API, answered by what is behind it. It reads and checks each request, and
// writes each answer anew, whatever is behind: so that two backends differ in the hop alone.

declare(strict_types=1);

require __DIR__ . '/wire.php';
require __DIR__ . '/backend.php';

/**
 * Answers one request.
 *
 * @param array<string, string> $headers by their names in lower case
 * @return array{int, array<string, string>, string} status, headers, body
 */
function answer(Backend $backend, string $method, string $target, array $headers, string $body): array
{
    try {
        $path = explode('?', $target, 2)[0];
        $wants = ['/v1/datatype' => 'POST', '/v1/login' => 'POST', '/healthz' => 'GET'][$path] ?? null;
        if ($wants === null) {
            throw new Refused('not_found', "there is nothing at $path: this front has POST /v1/datatype, POST /v1/login and GET /healthz");
        }
        if ($method !== $wants) {
            throw new Refused('invalid_argument', "the method is $method: $path takes $wants", '', 405);
        }
        if ($path === '/healthz') {
            return [200, ['Content-Type' => 'application/json'], '{"status":"ok"}'];
        }
        $type = strtolower(trim(explode(';', $headers['content-type'] ?? '', 2)[0]));
        if ($type !== '' && $type !== 'application/json') {
            throw new Refused('invalid_argument', "the content type is $type: send application/json", '', 415);
        }
        if (strlen($body) > MAX_MESSAGE) {
            throw new Refused('resource_exhausted', 'the request is larger than the limit of ' . MAX_MESSAGE . ' bytes', '', 413);
        }
        $timeout = min($backend->timeout, timeoutOf($headers['grpc-timeout'] ?? ''));
        return $path === '/v1/login' ? login($backend, $body, $timeout) : dataType($backend, $headers, $body, $timeout);
    } catch (Refused $e) {
        return problem($e);
    }
}

function dataType(Backend $backend, array $headers, string $body, int $timeout): array
{
    $in = fromJSON($body);
    $auth = array_key_exists('authRq', $in) ? $in['authRq'] : [];
    if (!is_array($auth) || $auth !== [] && array_is_list($auth)) {
        throw new Refused('invalid_argument', 'authRq must be an object');
    }
    $rq = [
        'authRq' => ['clientId' => string($auth, 'clientId'), 'token' => string($auth, 'token')],
        'groupName' => string($in, 'groupName'),
        'enName' => string($in, 'enName'),
    ];
    if ($rq['authRq']['token'] === '') {
        $rq['authRq']['token'] = tokenOf($headers);
    }
    $rp = $backend->dataType($rq, $timeout);
    $token = $rp['authRp']['token'];
    $cookie = $token === $rq['authRq']['token'] || $token === '' ? [] : ['Set-Cookie' => cookie($token, null)];
    return [200, ['Content-Type' => 'application/json'] + $cookie, toJSON($rp)];
}

function login(Backend $backend, string $body, int $timeout): array
{
    $in = fromJSON($body);
    $rp = $backend->login(['clientId' => string($in, 'clientId'), 'secret' => string($in, 'secret')], $timeout);
    return [200, ['Content-Type' => 'application/json', 'Set-Cookie' => cookie($rp['token'], $rp['expiresUnixMs'])], toJSON($rp)];
}

/** The token that a request carries outside its body: the cookie's, or else the bearer's. */
function tokenOf(array $headers): string
{
    if (preg_match('/(?:\A|;)\s*token=([^;]*)/', $headers['cookie'] ?? '', $found) === 1) {
        return trim($found[1]);
    }
    return preg_match('/\Abearer\s+(\S+)\z/i', $headers['authorization'] ?? '', $found) === 1 ? $found[1] : '';
}

function cookie(string $token, ?int $expiresUnixMs): string
{
    if (preg_match('/\A[\x21-\x7e]*\z/', $token) !== 1 || strpbrk($token, ';,"\\') !== false) {
        throw new Refused('internal', 'the backend gave a token that no cookie can carry');
    }
    $expires = $expiresUnixMs === null ? '' : '; expires=' . gmdate('D, d M Y H:i:s', intdiv($expiresUnixMs, 1000)) . ' GMT';
    return "token=$token$expires; path=/; HttpOnly; SameSite=Lax";
}

/** How long the caller waits, in milliseconds, by the Grpc-Timeout header that gateways to gRPC read: digits and a unit. */
function timeoutOf(string $header): int
{
    if ($header === '') {
        return PHP_INT_MAX;
    }
    $units = ['H' => 3600e3, 'M' => 60e3, 'S' => 1e3, 'm' => 1, 'u' => 1e-3, 'n' => 1e-6];
    if (preg_match('/\A([0-9]{1,8})([HMSmun])\z/', $header, $found) !== 1) {
        throw new Refused('invalid_argument', "Grpc-Timeout is $header: must be at most eight digits and one of H, M, S, m, u, n, such as 250m");
    }
    $ms = (int) $found[1] * $units[$found[2]];
    if ($ms < 1) {
        throw new Refused('deadline_exceeded', "deadline exceeded: Grpc-Timeout is $header, which is less than a millisecond");
    }
    return (int) ceil($ms); // the caller's own clock is the one that counts
}

function fromJSON(string $text): array
{
    if (str_starts_with($text, "\xef\xbb\xbf")) {
        $text = substr($text, 3); // of an editor
    }
    try {
        $value = json_decode($text, true, 32, JSON_THROW_ON_ERROR | JSON_BIGINT_AS_STRING);
    } catch (JsonException $e) {
        throw new Refused('invalid_argument', 'the message is no JSON: ' . $e->getMessage());
    }
    if (!is_array($value) || ltrim($text)[0] !== '{') {
        throw new Refused('invalid_argument', 'the message must be a JSON object');
    }
    return $value;
}

function toJSON(array $value): string
{
    try {
        return json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    } catch (JsonException $e) {
        throw new Refused('internal', 'the answer can not be written as JSON: ' . $e->getMessage());
    }
}

/** A member that is text, or absent, which is empty text. */
function string(array $from, string $name): string
{
    if (!array_key_exists($name, $from)) {
        return '';
    }
    if (!is_string($from[$name])) {
        throw new Refused('invalid_argument', "$name must be a string");
    }
    return $from[$name];
}

/** A member that is a whole number of 64 bits, also as text. */
function integer(array $from, string $name): int
{
    $n = $from[$name] ?? 0;
    if (is_string($n) && preg_match('/\A-?(0|[1-9][0-9]*)\z/', $n) === 1 && (string) (int) $n === $n) {
        $n = (int) $n;
    }
    if (!is_int($n)) {
        throw new Refused('invalid_argument', "$name must be a whole number of 64 bits");
    }
    return $n;
}

function readDataType(array $rp): array
{
    $auth = $rp['authRp'] ?? [];
    return ['authRp' => ['token' => is_array($auth) ? string($auth, 'token') : ''], 'codeId' => integer($rp, 'codeId'), 'cnName' => string($rp, 'cnName')];
}

function readSession(array $rp): array
{
    return ['token' => string($rp, 'token'), 'expiresUnixMs' => integer($rp, 'expiresUnixMs')];
}

/** The reasons of the statuses that a front answers with. */
const REASONS = [
    200 => 'OK', 400 => 'Bad Request', 401 => 'Unauthorized', 404 => 'Not Found', 405 => 'Method Not Allowed', 408 => 'Request Timeout',
    411 => 'Length Required', 413 => 'Request Entity Too Large', 415 => 'Unsupported Media Type', 429 => 'Too Many Requests',
    431 => 'Request Header Fields Too Large', 500 => 'Internal Server Error', 503 => 'Service Unavailable', 504 => 'Gateway Timeout',
];

/** The problem (RFC 9457) of a refusal, as bakeoff's HTTP API has it. */
function problem(Refused $e): array
{
    $status = $e->status;
    foreach (CODES as [$kind, $usual]) {
        if ($status === 0 && $kind === $e->kind) {
            $status = $usual;
        }
    }
    $body = ['type' => 'about:blank', 'title' => REASONS[$status], 'status' => $status, 'detail' => $e->getMessage(), 'code' => $e->kind];
    if ($e->cause !== '') {
        $body['cause'] = $e->cause;
    }
    $headers = ['Content-Type' => 'application/problem+json'];
    if ($status === 401) {
        $headers['WWW-Authenticate'] = 'Bearer realm="bakeoff"';
    }
    return [$status, $headers, json_encode($body, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE)];
}

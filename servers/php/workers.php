<?php
// The front under workers that live on, as application servers for PHP have them: what a worker has, its connection to the backend too, stays
// from request to request (BACKEND_REUSE=1), and the caller's connections are kept alive.
//
//   LISTEN=127.0.0.1:8080 WORKERS=8 BACKEND=http BACKEND_ADDR=127.0.0.1:20000 BACKEND_REUSE=1 php servers/php/workers.php
//
// Each worker answers one request at a time, and waits for the next of any of its connections. By SIGTERM they answer what has been asked, and end.
// LISTEN_FD=3 has them accept from a socket that was opened for them, in the place of LISTEN.

declare(strict_types=1);

require __DIR__ . '/app.php';

const MAX_HEAD = 16 << 10; // bytes of a request before its body
const MAX_CONNS = 900;     // of a worker: select takes no file above 1023
const PATIENCE = 5;        // seconds that a caller may take to read an answer, or to end a connection
const LOOK = 5;            // seconds after which an idle worker looks whether its parent lives
define('IDLE', setting('IDLE', 120)); // seconds that a connection may wait for its next request

/** Says what is wrong with the settings, and ends. */
function stop(string $why): never
{
    fwrite(STDERR, "php front: $why\n");
    exit(2);
}

/** A caller's connection. */
final class Conn
{
    public string $arrived = '';
    /** Bytes that are read and thrown away before it is closed: a caller that is still sending then would not see the answer. 0: it lives. */
    public int $skip = 0;

    public function __construct(public readonly mixed $socket, public float $last)
    {
    }
}

/** The worker: it ends with its parent, or when it is told to. */
function work($listener, Backend $backend, int $parent): void
{
    $ending = false;
    pcntl_async_signals(true);
    pcntl_signal(SIGTERM, static function () use (&$ending): void {
        $ending = true;
    });
    pcntl_sigprocmask(SIG_SETMASK, []);
    $conns = [];
    $swept = 0.0;
    while (!$ending && posix_getppid() === $parent) {
        $ready = array_map(static fn (Conn $c) => $c->socket, $conns);
        if (count($conns) < MAX_CONNS) {
            $ready[] = $listener;
        }
        $none = null;
        if (@stream_select($ready, $none, $none, LOOK) === false) {
            $ready = [];
        }
        $now = microtime(true);
        foreach ($ready as $socket) {
            if ($socket === $listener) {
                // A connection stays with its worker, and waits when that is busy: so those who have fewer come first.
                usleep(200 * min(count($conns), 20));
                if ($caller = @stream_socket_accept($listener, 0)) {
                    stream_set_blocking($caller, false);
                    stream_set_read_buffer($caller, 0);
                    $conns[(int) $caller] = new Conn($caller, $now);
                }
                continue;
            }
            $conn = $conns[(int) $socket];
            $conn->last = $now;
            if ($ending) {
                continue; // it is among those that are asked for the last time
            }
            if (!receive($conn, $backend)) {
                fclose($socket);
                unset($conns[(int) $socket]);
            }
        }
        if ($now - $swept > 1) {
            $swept = $now;
            foreach ($conns as $id => $conn) {
                if ($now - $conn->last > ($conn->skip > 0 ? PATIENCE : IDLE)) {
                    fclose($conn->socket);
                    unset($conns[$id]);
                }
            }
        }
    }
    while ($conns !== []) { // what was sent before the end is answered still
        $ready = array_map(static fn (Conn $c) => $c->socket, $conns);
        $none = null;
        if (!@stream_select($ready, $none, $none, 0)) {
            return;
        }
        foreach ($ready as $socket) {
            if (!receive($conns[(int) $socket], $backend)) {
                unset($conns[(int) $socket]);
            }
        }
    }
}

/** Reads what has arrived and answers what is whole; false is the end of the connection. */
function receive(Conn $conn, Backend $backend): bool
{
    $more = @fread($conn->socket, 1 << 16);
    if ($more === false || $more === '' && feof($conn->socket)) {
        return false;
    }
    if ($conn->skip > 0) {
        $conn->skip -= strlen($more);
        return $conn->skip > 0;
    }
    $conn->arrived .= $more;
    while (($keep = respond($conn->socket, $conn->arrived, $backend)) !== null) {
        if (!$keep) {
            $conn->arrived = '';
            $conn->skip = MAX_MESSAGE;
            return @stream_socket_shutdown($conn->socket, STREAM_SHUT_WR);
        }
    }
    return true;
}

/** Answers the first request of what has arrived, and cuts it off: true; false ends the connection, null is no whole request yet. */
function respond($socket, string &$arrived, Backend $backend): ?bool
{
    $end = strpos($arrived, "\r\n\r\n");
    if ($end === false || $end > MAX_HEAD) {
        if (strlen($arrived) <= MAX_HEAD) {
            return null;
        }
        return send($socket, problem(new Refused('resource_exhausted', "the request's headers are too large", '', 431)), false);
    }
    $lines = explode("\r\n", substr($arrived, 0, $end));
    if (preg_match('/\A([A-Z]+) (\S+) HTTP\/1\.([01])\z/', array_shift($lines), $first) !== 1) {
        return send($socket, problem(new Refused('invalid_argument', 'the request is no HTTP')), false);
    }
    $headers = [];
    foreach ($lines as $line) {
        $parts = explode(':', $line, 2);
        if (count($parts) !== 2 || preg_match('/\A[!#$%&\'*+.^_`|~0-9A-Za-z-]+\z/', $parts[0]) !== 1) {
            return send($socket, problem(new Refused('invalid_argument', 'the request is no HTTP: a header without a name')), false);
        }
        $name = strtolower($parts[0]);
        if ($name === 'content-length' && isset($headers[$name])) {
            return send($socket, problem(new Refused('invalid_argument', 'the request has two lengths')), false);
        }
        $headers[$name] = trim($parts[1]);
    }
    $length = $headers['content-length'] ?? '0';
    if (isset($headers['transfer-encoding']) || preg_match('/\A[0-9]{1,10}\z/', $length) !== 1) {
        return send($socket, problem(new Refused('invalid_argument', 'the request must say how long it is: Content-Length, and no chunks', '', 411)), false);
    }
    if ((int) $length > MAX_MESSAGE) {
        return send($socket, problem(new Refused('resource_exhausted', 'the request is larger than the limit of ' . MAX_MESSAGE . ' bytes', '', 413)), false);
    }
    $whole = $end + 4 + (int) $length;
    if (strlen($arrived) < $whole) {
        return null;
    }
    $body = substr($arrived, $end + 4, (int) $length);
    $arrived = substr($arrived, $whole);
    $keep = $first[3] === '1' && strtolower($headers['connection'] ?? '') !== 'close';
    return send($socket, answer($backend, $first[1], $first[2], $headers, $body), $keep);
}

/** Sends an answer, and says whether the connection stays. */
function send($socket, array $answer, bool $keep): bool
{
    [$status, $headers, $body] = $answer;
    $out = "HTTP/1.1 $status " . REASONS[$status] . "\r\nContent-Length: " . strlen($body) . "\r\n";
    foreach ($headers as $name => $value) {
        $out .= "$name: $value\r\n";
    }
    $out .= ($keep ? "\r\n" : "Connection: close\r\n\r\n") . $body;
    $until = microtime(true) + PATIENCE;
    while ($out !== '') {
        $sent = @fwrite($socket, $out);
        if ($sent === false || microtime(true) > $until) {
            return false;
        }
        $out = substr($out, $sent);
        if ($out !== '') {
            $none = null;
            $ready = [$socket];
            @stream_select($none, $ready, $none, PATIENCE);
        }
    }
    return $keep;
}

foreach (['pcntl', 'posix'] as $extension) {
    if (!extension_loaded($extension)) {
        stop("PHP's $extension extension is needed: Debian has it in php-cli");
    }
}
try {
    $backend = Backend::ofEnvironment();
} catch (InvalidArgumentException $e) {
    stop($e->getMessage());
}
$listen = getenv('LISTEN') ?: '127.0.0.1:0';
$workers = getenv('WORKERS') ?: '4';
if (preg_match('/\A[1-9][0-9]{0,2}\z/', $workers) !== 1) {
    stop("WORKERS is '$workers': must be from 1 to 999");
}
if (preg_match('/:([0-9]{1,5})\z/', $listen, $port) !== 1 || (int) $port[1] > 65535) { // PHP would take a larger one for another
    stop("LISTEN is '$listen': must be host:port, with a port from 0 to 65535");
}
$fd = getenv('LISTEN_FD') ?: '';
if ($fd !== '') {
    $listener = preg_match('/\A[0-9]{1,3}\z/', $fd) === 1 ? @fopen("php://fd/$fd", 'r+') : false;
    if ($listener === false || @stream_socket_get_name($listener, false) === false) {
        stop("LISTEN_FD is '$fd': must be the number of a socket that listens");
    }
    stream_context_set_option($listener, 'socket', 'tcp_nodelay', true);
} else {
    $listener = @stream_socket_server("tcp://$listen", $errno, $why, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN,
        stream_context_create(['socket' => ['backlog' => 1024, 'tcp_nodelay' => true]]));
    if ($listener === false) {
        stop("LISTEN is '$listen': $why");
    }
}
if (IDLE < 1) {
    stop("IDLE is '" . getenv('IDLE') . "': must be seconds, from 1");
}
stream_set_blocking($listener, false);

$signals = [SIGTERM, SIGINT, SIGCHLD]; // held back until they are waited for, so that none is missed
pcntl_sigprocmask(SIG_BLOCK, $signals);
$parent = getmypid();
$children = [];
for ($i = 0; $i < (int) $workers; $i++) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        work($listener, $backend, $parent);
        exit(0);
    }
    if ($pid < 0) {
        foreach ($children as $child) {
            posix_kill($child, SIGTERM);
        }
        stop("worker $i could not be started");
    }
    $children[] = $pid;
}
echo 'php front is listening on ', stream_socket_get_name($listener, false), "\n";
$died = 0;
if (pcntl_sigwaitinfo($signals) === SIGCHLD) {
    $died = pcntl_wait($status);
    fwrite(STDERR, "php front: worker $died ended by itself\n");
}
$children = array_diff($children, [$died]);
while ($children !== []) {
    foreach ($children as $child) {
        posix_kill($child, SIGTERM); // again, should one have been about to wait when it was told
    }
    usleep(20000);
    $children = array_filter($children, static fn (int $child): bool => pcntl_waitpid($child, $status, WNOHANG) === 0);
}
exit($died > 0 ? 1 : 0);

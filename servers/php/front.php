<?php
// The front under PHP's own server, which forgets everything between two requests: each call has a connection of its own to the backend, and
// the caller one to the front. Its workers are a variable of PHP's:
//
//   PHP_CLI_SERVER_WORKERS=8 BACKEND=grpc BACKEND_ADDR=127.0.0.1:20000 php -q -S 127.0.0.1:8080 servers/php/front.php

declare(strict_types=1);

require __DIR__ . '/app.php';

try {
    $backend = Backend::ofEnvironment();
    [$status, $headers, $body] = answer($backend, $_SERVER['REQUEST_METHOD'], $_SERVER['REQUEST_URI'],
        array_change_key_case(getallheaders()), file_get_contents('php://input'));
} catch (InvalidArgumentException $e) {
    [$status, $headers, $body] = problem(new Refused('internal', 'the front is set up wrongly: ' . $e->getMessage()));
}
header_remove('X-Powered-By');
http_response_code($status);
foreach ($headers as $name => $value) {
    header("$name: $value");
}
header('Content-Length: ' . strlen($body));
echo $body;

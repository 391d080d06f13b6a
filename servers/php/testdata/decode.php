<?php
// Reads a message of inf.proto in base64 from each line, decodes it by the front's code, and writes what it found: the fuzz test of wire.php.

declare(strict_types=1);

require $argv[1] . '/wire.php';

while (($line = fgets(STDIN)) !== false) {
    [$what, $bytes] = explode(' ', rtrim($line, "\n"), 2);
    $bytes = base64_decode($bytes, true);
    try {
        $found = match ($what) {
            'DataTypeRp' => decodeDataTypeRp($bytes),
            'LoginRp' => decodeLoginRp($bytes),
            'frame' => base64_encode(unframe($bytes)),
            'status' => (static function (Refused $e): array {
                return ['kind' => $e->kind, 'message' => base64_encode($e->getMessage()), 'cause' => $e->cause];
            })(grpcRefusal(13, '', base64_encode($bytes))),
        };
        $answer = ['found' => $found];
    } catch (UnexpectedValueException $e) {
        $answer = ['error' => $e->getMessage()];
    }
    echo json_encode($answer, JSON_THROW_ON_ERROR), "\n";
}

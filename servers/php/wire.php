<?php
// What goes over the two wires behind the front: the protobuf of inf.proto and its framing by hand, and JSON.

declare(strict_types=1);

/** A call that was refused, by the front or by what is behind it: the members of the problem that the caller gets. */
final class Refused extends Exception
{
    public function __construct(public readonly string $kind, string $message, public readonly string $cause = '', public readonly int $status = 0)
    {
        parent::__construct($message);
    }
}

/** The codes of bakeoff's services by their numbers, each with its HTTP status and its gRPC code. */
const CODES = [
    1 => ['invalid_argument', 400, 3],
    2 => ['unauthenticated', 401, 16],
    3 => ['not_found', 404, 5],
    4 => ['unavailable', 503, 14],
    5 => ['deadline_exceeded', 504, 4],
    6 => ['resource_exhausted', 429, 8],
    7 => ['internal', 500, 13],
];

/** A setting that is a whole number, or what stands for it where it is absent or empty; 0 is what is none. */
function setting(string $name, int $default): int
{
    $given = getenv($name);
    if ($given === false || $given === '') {
        return $default;
    }
    return preg_match('/\A[1-9][0-9]{0,17}\z/', $given) === 1 ? (int) $given : 0;
}

/** The largest message either way, in bytes: as the environment says, or bakeoff's default for all protocols. */
define('MAX_MESSAGE', setting('MAX_MESSAGE', 4 << 20));

/** A cause is a word of bakeoff's results; anything else is none. */
function cleanCause(string $cause): string
{
    return preg_match('/\A[a-z0-9_]{1,64}\z/', $cause) === 1 ? $cause : '';
}

/** Writes an integer as protobuf does: seven bits a byte, the lowest first. */
function varint(int $n): string
{
    $out = '';
    while ($n & ~0x7f) {
        $out .= chr($n & 0x7f | 0x80);
        $n = $n >> 7 & PHP_INT_MAX >> 6; // a shift without the sign
    }
    return $out . chr($n);
}

/** Writes a field of text or of a message; proto3 leaves the empty ones away. */
function field(int $number, string $value): string
{
    return $value === '' ? '' : varint($number << 3 | 2) . varint(strlen($value)) . $value;
}

/** Reads an integer at $at, and moves $at behind it. */
function readVarint(string $b, int &$at): int
{
    $n = 0;
    for ($i = 0; $i < 10; $i++) {
        if ($at >= strlen($b)) {
            throw new UnexpectedValueException('it stops within an integer');
        }
        $byte = ord($b[$at++]);
        if ($i === 9 && $byte > 1) {
            break;
        }
        $n |= ($byte & 0x7f) << 7 * $i;
        if ($byte < 0x80) {
            return $n;
        }
    }
    throw new UnexpectedValueException('an integer is longer than 64 bits');
}

/**
 * Reads a message: every value of every field by its number, integers as int, text, bytes and messages as the bytes that they have. The numbers
 * of fixed width, which no message of ours has, are skipped; the groups of proto2 are refused.
 *
 * @return array<int, list<int|string>>
 */
function fields(string $b): array
{
    $all = [];
    for ($at = 0; $at < strlen($b);) {
        $tag = readVarint($b, $at);
        $number = $tag >> 3;
        if ($number < 1 || $number > (1 << 29) - 1) {
            throw new UnexpectedValueException("a field has the number $number");
        }
        switch ($tag & 7) {
            case 0:
                $all[$number][] = readVarint($b, $at);
                continue 2;
            case 1:
                $length = 8;
                break;
            case 2:
                $length = readVarint($b, $at);
                break;
            case 5:
                $length = 4;
                break;
            default:
                throw new UnexpectedValueException("field $number has the wire type " . ($tag & 7));
        }
        if ($length < 0 || $length > strlen($b) - $at) {
            throw new UnexpectedValueException("it stops within field $number");
        }
        if (($tag & 7) === 2) {
            $all[$number][] = substr($b, $at, $length);
        }
        $at += $length;
    }
    return $all;
}

/** The text of a field: that of its last value, as proto3 says; values of another wire type are not its own. */
function text(array $fields, int $number): string
{
    $text = '';
    foreach ($fields[$number] ?? [] as $value) {
        if (is_string($value)) {
            if (preg_match('//u', $value) !== 1) {
                throw new UnexpectedValueException("field $number is no UTF-8");
            }
            $text = $value;
        }
    }
    return $text;
}

/** The integer of a field. */
function number(array $fields, int $number): int
{
    $n = 0;
    foreach ($fields[$number] ?? [] as $value) {
        if (is_int($value)) {
            $n = $value;
        }
    }
    return $n;
}

/** The bytes of a field: those of its last value. */
function bytes(array $fields, int $number): string
{
    $strings = array_filter($fields[$number] ?? [], is_string(...));
    return $strings === [] ? '' : end($strings);
}

/** A message within a message; one that stands there several times is merged. */
function message(array $fields, int $number): array
{
    $all = [];
    foreach (array_filter($fields[$number] ?? [], is_string(...)) as $part) {
        foreach (fields($part) as $of => $values) {
            $all[$of] = [...$all[$of] ?? [], ...$values];
        }
    }
    return $all;
}

/** inf.DataTypeRq */
function encodeDataTypeRq(array $rq): string
{
    return field(1, field(1, $rq['authRq']['clientId']) . field(2, $rq['authRq']['token'])) . field(101, $rq['groupName']) . field(102, $rq['enName']);
}

/** inf.DataTypeRp */
function decodeDataTypeRp(string $b): array
{
    $f = fields($b);
    return ['authRp' => ['token' => text(message($f, 1), 1)], 'codeId' => number($f, 101), 'cnName' => text($f, 102)];
}

/** inf.LoginRq */
function encodeLoginRq(array $rq): string
{
    return field(1, $rq['clientId']) . field(2, $rq['secret']);
}

/** inf.LoginRp */
function decodeLoginRp(string $b): array
{
    $f = fields($b);
    return ['token' => text($f, 1), 'expiresUnixMs' => number($f, 2)];
}

/** Puts gRPC's prefix before a message: not compressed, and how long. */
function frame(string $message): string
{
    return pack('CN', 0, strlen($message)) . $message;
}

/** Takes it off the body of an answer, which has one message. */
function unframe(string $body): string
{
    if (strlen($body) < 5) {
        throw new UnexpectedValueException('it has ' . strlen($body) . ' bytes, which are fewer than the prefix of a message');
    }
    ['compressed' => $compressed, 'length' => $length] = unpack('Ccompressed/Nlength', $body);
    if ($compressed !== 0) {
        throw new UnexpectedValueException('it is compressed, which nobody asked for');
    }
    if ($length !== strlen($body) - 5) {
        throw new UnexpectedValueException("its message has $length bytes by its prefix, and " . strlen($body) - 5 . ' that came');
    }
    return substr($body, 5);
}

/** What a gRPC status that is no success says. The service's own error stands in its details (inf.Error in google.rpc.Status). */
function grpcRefusal(int $code, string $message, string $details): Refused
{
    try {
        $bytes = base64_decode(strtr(rtrim($details, '='), '-_', '+/'), true);
        foreach (fields($bytes === false ? '' : $bytes)[3] ?? [] as $any) {
            $any = is_string($any) ? fields($any) : [];
            if (preg_match('/(\A|\/)inf\.Error\z/', text($any, 1)) === 1) {
                $e = fields(bytes($any, 2));
                if (isset(CODES[number($e, 1)])) {
                    return new Refused(CODES[number($e, 1)][0], text($e, 2), cleanCause(text($e, 3)));
                }
            }
        }
    } catch (UnexpectedValueException) {
        // Then the status alone says what it says.
    }
    foreach (CODES as [$kind, , $grpc]) {
        if ($grpc === $code) {
            return new Refused($kind, rawurldecode($message));
        }
    }
    return new Refused($code === 1 ? 'unavailable' : 'internal', "gRPC status $code: " . rawurldecode($message));
}

import { describe, expect, test } from '@jest/globals';
import { diagnose, parseHeaders, type DiagnosisInput } from '../../../src/client/index.js';
import { sign } from '../../../src/engine/send/headers.js';
import { renderNotification } from '../../../src/engine/record/store.js';
import { newId } from '../../../src/platform/ids.js';
import { newSecret } from '../../../src/engine/send/sealing.js';

const now = new Date('2026-11-22T12:00:00Z');
const nowSeconds = now.getTime() / 1_000;
const [secret, otherSecret] = [newSecret(), newSecret()];
const id = newId(now.getTime() - 1_000);
const body = renderNotification(
  { trackingId: 'PH1', shipperTrackingId: "Pédido <1>/a'" },
  { state: 'CREATED', lat: 19.43, lng: -99.13 },
  now.getTime() - 1_000,
);
const signed = () => ({
  'webhook-id': id,
  'webhook-timestamp': String(nowSeconds),
  'webhook-signature': sign([secret], id, nowSeconds, body),
});
const signature = signed()['webhook-signature'];
const good: DiagnosisInput = { headers: signed(), rawBody: body, secret, now };

/** In brackets if it is only likely. */
const causesOf = async (changed: Partial<DiagnosisInput>) =>
  (await diagnose({ ...good, ...changed })).findings.map(({ cause, certain }) =>
    certain ? cause : `[${cause}]`,
  );

describe('parseHeaders', () => {
  const expected = {
    'webhook-id': id,
    'webhook-timestamp': String(nowSeconds),
    'webhook-signature': signature,
  };
  type Write = (name: string, value: string) => string;
  const pairs = (write: Write, between = ', ') =>
    Object.entries(expected)
      .map(([name, value]) => write(name, value))
      .join(between);
  const lines = (line: Write) => pairs(line, '\n');
  const titled = (name: string) => name.replace(/(^|-)\w/g, (letter) => letter.toUpperCase());
  const cgi = (name: string) => `HTTP_${name.toUpperCase().replaceAll('-', '_')}`;

  test.each([
    ['lines', lines((name, value) => `${name}: ${value}`)],
    ['lines with CRLF', lines((name, value) => `${name}: ${value}\r`)],
    ['capitals', lines((name, value) => `${name.toUpperCase()}:${value}`)],
    ['curl -v, sent', `> POST /hook HTTP/1.1\n${lines((name, value) => `> ${name}: ${value}`)}\n>`],
    ['curl -v, received', lines((name, value) => `< ${name}: ${value}`)],
    [
      'a curl command',
      `curl http://localhost:3000 \\\n${lines((name, value) => `  -H '${name}: ${value}' \\`)}`,
    ],
    ['CGI', lines((name, value) => `HTTP_${name.toUpperCase().replaceAll('-', '_')}=${value}`)],
    ['JSON', JSON.stringify(expected)],
    ['JSON, indented, within a request', JSON.stringify({ headers: expected, body: '' }, null, 2)],
    ['a list of pairs', JSON.stringify(Object.entries(expected))],
    ["Node's rawHeaders", JSON.stringify(Object.entries(expected).flat())],
    ["Node's console.log", `{\n${lines((name, value) => `  '${name}': '${value}',`)}\n}`],
    ['pairs on lines of their own', lines((name, value) => `${name}\n${value}`)],
    ['pairs of a table', lines((name, value) => `${name}\t${value}`)],
    ['names and values in columns', lines((name, value) => `${name.padEnd(24)}${value}`)],
    ['a table of Markdown', lines((name, value) => `| ${name} | ${value} |`)],
    ['a Python dict', `{${pairs((name, value) => `'${titled(name)}': '${value}'`)}}`],
    [
      'a dict of WSGI',
      `{${pairs((name, value) => `'${cgi(name)}': '${value}'`)}, 'wsgi.url_scheme': 'http'}`,
    ],
    ['Flask', `EnvironHeaders([${pairs((name, value) => `('${titled(name)}', '${value}')`)}])`],
    ['ASGI', `[${pairs((name, value) => `(b'${name}', b'${value}')`)}]`],
    ['print_r of PHP', `Array\n(\n${lines((name, value) => `    [${name}] => ${value}`)}\n)`],
    ['print_r of $_SERVER', `Array\n(\n${lines((name, value) => `    [${cgi(name)}] => ${value}`)}\n)`],
    [
      'print_r of Laravel',
      `Array\n(\n${lines((name, value) => `    [${name}] => Array\n        (\n            [0] => ${value}\n        )\n`)}\n)`,
    ],
    [
      'var_dump of PHP',
      `array(3) {\n${lines((name, value) => `  ["${cgi(name)}"]=>\n  string(${value.length}) "${value}"`)}\n}`,
    ],
    [
      'var_export of PHP',
      `array (\n${lines((name, value) => `  '${name}' => \n  array (\n    0 => '${value}',\n  ),`)}\n)`,
    ],
    ['a map of Go', `map[Accept:[*/*] ${pairs((name, value) => `${titled(name)}:[${value}]`, ' ')}]`],
    ['%#v of Go', `http.Header{${pairs((name, value) => `"${titled(name)}":[]string{"${value}"}`)}}`],
    ['Rails', `{${pairs((name, value) => `"${cgi(name)}"=>"${value}"`)}}`],
    ['Ruby 3.4', `{${pairs((name, value) => `"${cgi(name)}" => "${value}"`)}}`],
    ['a map of Java', `{host=[a], ${pairs((name, value) => `${name}=[${value}]`)}}`],
    ['a plain map of Java', `{${pairs((name, value) => `${name}=${value}`)}, host=a}`],
    ['HttpHeaders of Spring', `[${pairs((name, value) => `${name}:"${value}"`)}]`],
    [
      'a log of Spring',
      lines(
        (name, value) =>
          `2026-11-22T12:00:00.000Z  INFO 1 --- [nio-8080-exec-1] c.e.Hook : ${name}: ${value}`,
      ),
    ],
    ['pairs of .NET', pairs((name, value) => `[${titled(name)}, ${value}]`)],
    ['logfmt', `level=info ${pairs((name, value) => `${name}="${value}"`, ' ')}`],
    ["Node's console.log on one line", `{ ${pairs((name, value) => `'${name}': '${value}'`)} }`],
    ['Headers of Node', `Headers { ${pairs((name, value) => `'${name}': '${value}'`)} }`],
    ['entries of Node', `Map(3) { ${pairs((name, value) => `'${name}' => '${value}'`)} }`],
    ['rawHeaders of Node', `[\n${lines((name, value) => `  '${name}',\n  '${value}',`)}\n]`],
    [
      'values that Node broke',
      lines((name, value) => `  '${name}': '${value.slice(0, 9)}' +\n    '${value.slice(9)}',`),
    ],
    ['variables of nginx', pairs((name, value) => `$${cgi(name).toLowerCase()}="${value}"`, ' ')],
    ['fields of an access log', pairs((name, value) => `${name.replaceAll('-', '_')}="${value}"`, ' ')],
    ['tuples of Elixir', `[${pairs((name, value) => `{"${name}", "${value}"}`)}]`],
    ['HeaderMap of Rust', `{${pairs((name, value) => `"${name}": "${value}"`)}}`],
    [
      'JSON with arrays',
      JSON.stringify(Object.fromEntries(Object.entries(expected).map(([n, v]) => [titled(n), [v]]))),
    ],
    ['JSON within a line of a log', `INFO request ${JSON.stringify({ headers: expected })} took 3 ms`],
    ['JSON within JSON', JSON.stringify({ message: `got ${JSON.stringify({ headers: expected })}` })],
    [
      'a HAR entry',
      JSON.stringify({
        log: {
          entries: [
            { request: { headers: Object.entries(expected).map(([name, value]) => ({ name, value })) } },
          ],
        },
      }),
    ],
    [
      'an event of Lambda',
      JSON.stringify({ version: '2.0', headers: expected, body, isBase64Encoded: false }),
    ],
    [
      'its older form',
      JSON.stringify({
        headers: null,
        multiValueHeaders: Object.fromEntries(Object.entries(expected).map(([n, v]) => [n, [v]])),
      }),
    ],
    [
      'a Node log in colours',
      lines((name, value) => `  \u001B[32m'${name}'\u001B[39m: \u001B[32m'${value}'\u001B[39m,`),
    ],
    ['a log of docker compose', lines((name, value) => `web-1  |   '${name}':\nweb-1  |    '${value}',`)],
    ['console.table', lines((name, value) => `│ ${name.padEnd(17)} │ '${value}' │`)],
    ['dd of Laravel', lines((name, value) => `  "${name}" => array:1 [▼\n    0 => "${value}"\n  ]`)],
    [
      'DumpRequest of Go',
      JSON.stringify(`POST / HTTP/1.1\r\n${lines((name, value) => `${titled(name)}: ${value}\r`)}`),
    ],
    ['a packet in Wireshark', lines((name, value) => `    ${name}: ${value}\\r\\n`)],
    ['keys and values of .NET', lines((name, value) => `Key: ${titled(name)}, Value: ${value}`)],
    ['a list of PowerShell', pairs((name, value) => `Name  : ${name}\nValue : ${value}`, '\n\n')],
    ['HeaderMap of Actix', `{${pairs((name, value) => `"${name}": Value { inner: ["${value}"] }`)}}`],
    ['values of Rust', lines((name, value) => `${name}: Some("${value}")`)],
    ['headers of Play', `(${pairs((name, value) => `(${name},Vector(${value}))`)})`],
    ['a list of R', lines((name, value) => `$\`${name}\`\n[1] "${value}"\n`)],
    ['fields of Traefik', pairs((name, value) => `"request_${titled(name)}":"${value}"`)],
    [
      'attributes of OpenTelemetry',
      JSON.stringify({
        attributes: Object.fromEntries(
          Object.entries(expected).map(([name, value]) => [`http.request.header.${name}`, [value]]),
        ),
      }),
    ],
    [
      'an event of CloudFront',
      JSON.stringify({
        headers: Object.fromEntries(
          Object.entries(expected).map(([name, value]) => [name, [{ key: titled(name), value }]]),
        ),
      }),
    ],
    [
      'names with underscores in JSON',
      `{${pairs((name, value) => `"${name.replace('-', '_')}":"${value}"`)}}`,
    ],
    ['a cell of a sheet', lines((name, value) => `${name};${value}`)],
    ['quotation marks of a chat', lines((name, value) => `“${name}”: “${value}”`)],
    ['tags', lines((name, value) => `<${name}>${value}</${name}>`)],
    ['a broken signature line', lines((name, value) => `${name}: ${value}`).replace(' v1,', '\n v1,')],
  ])('reads %s', (_what, text) => {
    expect(parseHeaders(text)).toMatchObject(expected);
  });

  test.each([
    ['prose', 'It has a webhook-id, webhook-timestamp and webhook-signature, all of them right.'],
    ['names alone', 'webhook-id\nwebhook-timestamp\nwebhook-signature'],
    ['empty values', 'webhook-id:\nwebhook-timestamp:\nwebhook-signature:\nhost: a'],
    ['empty values in JSON', '{"webhook-id": "", "webhook-timestamp": null, "webhook-signature": []}'],
  ])('reads no value in %s', (_what, text) => {
    expect(Object.keys(parseHeaders(text)).filter((name) => name !== 'host')).toEqual([]);
  });

  test('a notice in the text is not taken for headers', () => {
    const notice = '{"state" : "WEBHOOK_DISABLED", "webhook_id" : "0190", "timestamp" : 1}';
    expect(parseHeaders(`${lines((name, value) => `${name}: ${value}`)}\n\n${notice}`)).toEqual(expected);
  });

  test('a name given twice has both values, once each', () => {
    expect(parseHeaders('a: 1\nA: 2\nb: 3\nb: 3')).toEqual({ a: ['1', '2'], b: '3' });
  });
});

describe('what cannot be read is called unread, not missing', () => {
  test.each<[what: string, headers: string, causes: string[]]>([
    ['a text without headers', 'see the screenshot', ['[HEADERS_UNREAD]']],
    ['other names', `id=${id} time=${nowSeconds} sig=${signature}`, ['[HEADERS_UNREAD]']],
    ['names without values', 'webhook-id, webhook-timestamp, webhook-signature', ['[HEADERS_UNREAD]']],
    [
      'one value',
      `webhook-id: ${id}\nwebhook-timestamp: ${nowSeconds}\nwebhook-signature is a screenshot`,
      ['[HEADER_UNREAD]'],
    ],
  ])('%s', async (_what, headers, causes) => {
    expect(await causesOf({ headers })).toEqual(causes);
  });
});

describe('a request that is pasted whole', () => {
  const headerLines = Object.entries(signed()).map(([name, value]) => `${name}: ${value}`);
  test.each([
    ['HTTP', [`POST /hook HTTP/1.1`, ...headerLines, '', body].join('\r\n')],
    [
      'a curl command',
      `curl http://a ${headerLines.map((line) => `-H '${line}'`).join(' ')} --data-raw '${body.replaceAll("'", "'\\''")}'`,
    ],
    ['an event of Lambda', JSON.stringify({ headers: signed(), body })],
    [
      'an event of Lambda in Base64',
      JSON.stringify({
        headers: signed(),
        body: Buffer.from(body).toString('base64'),
        isBase64Encoded: true,
      }),
    ],
    [
      'a HAR entry',
      JSON.stringify({
        request: {
          headers: Object.entries(signed()).map(([name, value]) => ({ name, value })),
          postData: { text: body },
        },
      }),
    ],
  ])('%s has its body too', async (_what, headers) => {
    expect(await diagnose({ ...good, headers, rawBody: '' })).toEqual({
      ok: true,
      explained: true,
      findings: [],
    });
  });
});

describe('a body that was printed or encoded', () => {
  const bytes = Buffer.from(body);
  const hex = bytes.toString('hex');
  const printed = [...bytes].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x27
      ? `\\x${byte.toString(16).padStart(2, '0')}`
      : String.fromCharCode(byte),
  );
  test.each([
    ['Base64', bytes.toString('base64'), /in Base64/],
    ['Base64 for URLs', bytes.toString('base64url'), /in Base64/],
    ['Base64 in quotes', JSON.stringify(bytes.toString('base64')), /in Base64/],
    ['hexadecimal', hex, /as numbers/],
    ['hexadecimal with spaces', hex.replace(/../g, '$& ').toUpperCase(), /as numbers/],
    ['a Buffer', `<Buffer ${hex.replace(/..(?!$)/g, '$& ')}>`, /as numbers/],
    ['a Buffer in JSON', JSON.stringify(bytes), /as numbers/],
    ['bytes of Go', `[${[...bytes].join(' ')}]`, /as numbers/],
    [
      'bytes of Go with %#v',
      `[]byte{${[...bytes].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`,
      /as numbers/,
    ],
    ['bytes of Java', `[${[...new Int8Array(bytes)].join(', ')}]`, /as numbers/],
    ['bytes of C#', hex.toUpperCase().replace(/..(?!$)/g, '$&-'), /as numbers/],
    ['a Uint8Array', `Uint8Array(${bytes.length}) [\n  ${[...bytes].join(', ')}\n]`, /as numbers/],
    ['a Uint8Array in JSON', JSON.stringify({ ...bytes }), /as numbers/],
    ['a binary of Elixir', `<<${[...bytes].join(', ')}>>`, /as numbers/],
    ['a string of Ruby', `"${printed.join('').replaceAll('"', '\\"')}"`, /bytes escaped/],
    ['var_dump of PHP', `string(${bytes.length}) "${body}"`, /bytes escaped/],
    ['bytes of Python', `b'${printed.join('')}'`, /bytes escaped/],
    ['what Go prints with %q', JSON.stringify(body), /as a JSON string/],
    [
      'what xxd -i prints',
      `unsigned char b[] = {\n  ${hex.replace(/..(?!$)/g, '0x$&, ').replace(/..$/, '0x$&')}\n};\nunsigned int b_len = ${bytes.length};`,
      /as numbers/,
    ],
    ['a data: URI in Base64', `data:application/json;base64,${bytes.toString('base64')}`, /in Base64/],
    ['a data: URI', `data:application/json;charset=utf-8,${encodeURIComponent(body)}`, /URL-encoded/],
    ['a URL-encoded text', encodeURIComponent(body), /URL-encoded/],
    ['a text whose quotation marks are URL-encoded', encodeURI(body), /URL-encoded/],
    ['the value of a form', new URLSearchParams({ payload: body }).toString(), /URL-encoded/],
    ['the name in a form', new URLSearchParams({ [body]: '' }).toString(), /URL-encoded/],
  ])('%s is named, and the secret still found wrong', async (_what, rawBody, says) => {
    const { ok, explained, findings } = await diagnose({ ...good, rawBody });
    expect({ ok, explained, count: findings.length }).toEqual({ ok: false, explained: true, count: 1 });
    expect(findings[0]!.message).toMatch(says);
    expect(await causesOf({ rawBody, secret: otherSecret })).toEqual(['[WRONG_SECRET]']);
  });
});

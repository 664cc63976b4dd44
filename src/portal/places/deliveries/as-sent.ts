import { serviceForms } from '../../../client/diagnosis/body.js';
import { shellQuoted } from '../../../http/docs/curl.js';

/** The API has the body as an object; a notice is written in another form than the rest, and longer. */
export function bodySent(payload: object, length: string | undefined): string {
  const forms = serviceForms(JSON.stringify(payload));
  return forms.find((form) => String(bytesOf(form)) === length) ?? forms[0]!;
}

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** curl sets these itself: they belong to its connection. */
const ofConnection = ['host', 'connection', 'content-length'];

/** Linux takes no argument longer than 128 KiB. */
const maxArgumentBytes = 100_000;

/** The same request from a POSIX shell. A header without a value ends with `;`, or curl would leave it out. */
export function curlCommand(
  targetAddress: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const bytes = bytesOf(body);
  const isPiped = bytes > maxArgumentBytes;
  return [
    `${isPiped ? `printf %s ${shellQuoted(body)} | ` : ''}curl -i -g ${shellQuoted(targetAddress)}`,
    ...Object.entries(headers)
      .filter(([name]) => !ofConnection.includes(name))
      .map(([name, value]) => `-H ${shellQuoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...(bytes >= 1_024 ? ["-H 'expect:'"] : []), // or curl would first ask whether it may send the body
    isPiped ? '--data-binary @-' : `--data-raw ${shellQuoted(body)}`,
  ].join(' \\\n  ');
}

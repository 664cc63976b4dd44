import { expect, test } from '@jest/globals';
import { bodiesOf, transportOptions, type MailServer } from '../../src/mail/send.js';

const server: MailServer = { host: 'mail.example.com', port: 587, isSecure: false, login: null };
const login = { user: 'parcelhook', password: 'secret' };

test('a password goes only over TLS to a server with a valid certificate, or to this machine', () => {
  const sure = { tls: { rejectUnauthorized: true }, requireTLS: true };
  expect(transportOptions({ ...server, login })).toMatchObject(sure);
  expect(transportOptions({ ...server, isSecure: true })).toMatchObject(sure);
  const unsure = { tls: { rejectUnauthorized: false }, opportunisticTLS: true };
  expect(transportOptions(server)).toMatchObject(unsure);
  expect(transportOptions({ ...server, login, host: '[::1]' })).toMatchObject({ ...unsure, host: '::1' });
});

test('both bodies of a mail have all that it says, and no name becomes markup', () => {
  const { text, html } = bodiesOf({
    to: 'you@example.com',
    subject: 'Subject',
    paragraphs: ['The account <b>Acme</b> & more'],
    action: { label: 'Do it', url: 'https://example.com/?a=1&b=2' },
    remarks: ['A remark.'],
  });
  for (const part of ['The account <b>Acme</b> & more', 'https://example.com/?a=1&b=2', 'A remark.'])
    expect(text).toContain(part);
  expect(html).toContain('The account &lt;b&gt;Acme&lt;/b&gt; &amp; more');
  expect(html).toContain('<a href="https://example.com/?a=1&amp;b=2">Do it</a>');
  expect(html).toContain('A remark.');
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { html, toText } from '../../../../src/http/docs/pages.js';
import { curlOf } from '../../../../src/http/docs/curl.js';

describe('HTML of the docs', () => {
  test('escapes text, also within an attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...`<>&"'\`a /=`) }), (text) => {
        expect(toText(html`<p title="${text}">${text}</p>`)).toMatch(
          /^<p title="([^<>"'&]|&(amp|lt|gt|quot|#39);)*">([^<>"'&]|&(amp|lt|gt|quot|#39);)*<\/p>$/,
        );
      }),
    );
  });

  test('inserts HTML unchanged, joins lists, and omits false', () => {
    const item = html`<b>${1}</b>`;
    expect(toText(html`<i>${item}${[item, item]}${false}${undefined}</i>`)).toBe(
      '<i><b>1</b><b>1</b><b>1</b></i>',
    );
  });
});

test('a body with quotes stays one word in the shell', () => {
  const body = { schema: {}, example: { text: "it's" } };
  const operation = {
    operationId: 'x',
    tags: ['x'] as [string],
    summary: '',
    security: [],
    requestBody: { required: true, content: { 'application/json': body } },
    responses: {},
  };
  expect(curlOf('post', '/x', operation)).toContain(`-d '{\n  "text": "it'\\''s"\n}'`);
});

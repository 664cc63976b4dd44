/**
 * What a machine can hold of the house rules (docs/architecture.md, "Words"): one word per idea, sentences with a
 * subject, one owner of the outbox, files and folders that can be read.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';

/** Words we gave up, as they stand in comments and texts, or as a part of a name; and the word to use. */
const givenUp = [
  { text: /\bdoomed\b/i, name: /doomed/i, use: 'auto-disable target' },
  { text: /\buntil ?back\b/i, name: /untilBack/i, use: 'retryWhileDatabaseDown' },
  { text: /\bhungry\b/i, name: /hungry/i, use: 'fillable' },
  { name: /^standings?$|Standings?(?![a-z])/, use: 'principal cache' },
  { name: /^doors?$|Doors?(?![a-z])/, use: 'listener' },
  { name: /^most[A-Z]/, use: 'max…' },
  { text: /\b(?:whoever|whomever)\b/i, use: 'the caller, the process: name it' },
  { text: /\b(?:bears|bore) (?:the|a|an|its)\b/i, use: 'carries, has' },
  { text: /\blooks? ahead\b/i, name: /^lookAhead|LookAhead/, use: 'notify' },
];

/** A statement without a subject; a question ends with its mark. */
const noSubject = /(?:^|[.:;] )(?:Who|Whose|Whom|What)\s[^.?]*(?:\.|$)/;

const message = (found, use) => `"${found}" is given up: ${use}.`;

const words = {
  meta: {
    type: 'suggestion',
    schema: [],
    docs: { description: 'keeps to the words of docs/architecture.md' },
  },
  create(context) {
    const source = context.sourceCode;
    const checkText = (text, loc) => {
      for (const { text: word, use } of givenUp) {
        const found = word?.exec(text);
        if (found) context.report({ loc, message: message(found[0], use) });
      }
    };
    return {
      Program() {
        for (const comment of source.getAllComments()) checkText(comment.value, comment.loc);
      },
      Identifier(node) {
        const named = node.parent;
        const isDeclared =
          (named.id === node || named.key === node || named.params?.includes(node)) &&
          named.type !== 'MemberExpression';
        if (!isDeclared) return;
        for (const { name, use } of givenUp)
          if (name?.test(node.name)) context.report({ node, message: message(node.name, use) });
      },
      Literal(node) {
        if (typeof node.value === 'string' && node.value.includes(' ')) checkText(node.value, node.loc);
      },
      TemplateElement(node) {
        checkText(node.value.raw, node.loc);
      },
    };
  },
};

const sentences = {
  meta: { type: 'suggestion', schema: [], docs: { description: 'a sentence of a comment has a subject' } },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const text = comment.value
            .replace(/^\s*\*+ ?/gm, ' ')
            .replace(/\s+/g, ' ')
            .trim();
          const found = noSubject.exec(text);
          if (found)
            context.report({
              loc: comment.loc,
              message: `Give this sentence a subject: "${found[0].slice(0, 60)}"`,
            });
        }
      },
    };
  },
};

const maxFiles = 20; // of sources; a folder of tests is a list, and may be longer
const maxTestFiles = 30;
const sizes = {
  meta: { type: 'suggestion', schema: [], docs: { description: `a folder holds at most ${maxFiles} files` } },
  create(context) {
    const folder = path.dirname(context.filename);
    const max = folder.includes(`${path.sep}test${path.sep}`) ? maxTestFiles : maxFiles;
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    return {
      Program(node) {
        if (files.length > max && path.basename(context.filename) === files[0].name)
          context.report({
            node,
            message: `${folder} holds ${files.length} files, at most ${max} can be read.`,
          });
      },
    };
  },
};

const longFiles = {
  meta: {
    type: 'suggestion',
    schema: [],
    docs: { description: 'warns where a file grows beyond 300 lines' },
  },
  create(context) {
    return {
      Program(node) {
        const lines = context.sourceCode.lines.length;
        if (lines > 300)
          context.report({ node, message: `${lines} lines: is this one subject? (400 is the limit)` });
      },
    };
  },
};

export const house = { rules: { words, sentences, sizes, 'long-files': longFiles } };

import { palette } from './docs/palette.js';

/** A page of a few sentences in the service's plain style. `title` and `body` are HTML. */
export const smallPage = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} · Parcelhook</title>
<link rel="icon" href="data:,">
<style>
  ${palette.trim()}
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem;
    color: var(--text); background: var(--page) }
  a { color: var(--accent) }
  label, input, button { display: block; width: 100%; box-sizing: border-box }
  input, button { font: inherit; padding: .5rem; margin: .25rem 0 1rem }
  [role=alert] { color: var(--bad) }
</style>
<p>Parcelhook</p>
<h1>${title}</h1>
${body}
</html>`;

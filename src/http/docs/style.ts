/** The colours of every page the service serves: `/docs`, the portal and the pages of links, light and dark. */
export const palette = `
:root {
  color-scheme: light dark;
  --text: #1c2430; --soft: #5b6675; --line: #e2e6ec; --page: #fff; --panel: #f6f8fa; --accent: #0b6bcb;
  --on-accent: #fff; --code: #10161f; --code-text: #e3e9f2; --good: #1a7f4b; --bad: #b3261e; --warn: #8a5a00;
  --get: #0b6bcb; --post: #1a7f4b; --patch: #9a6400; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e4e9f0; --soft: #98a4b5; --line: #29313d; --page: #12171e; --panel: #1a212b; --accent: #6cb2ff;
    --on-accent: #0b0f14; --code: #0b0f14; --code-text: #e3e9f2; --good: #5fd39a; --bad: #ff8f86; --warn: #f0b95a;
    --get: #6cb2ff; --post: #5fd39a; --patch: #f0b95a; --delete: #ff8f86;
  }
}
`;

/** The style of the pages below `/docs`: system fonts, light and dark, one column on a phone, two on a desk. Code wraps. */
export const style = `${palette}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 5rem }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.6 system-ui, sans-serif }
a { color: var(--accent); text-decoration: none }
a:hover, main :is(p, li, td) a { text-decoration: underline }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
h1, h2, h3 { line-height: 1.25; margin: 0; overflow-wrap: anywhere }
h1 { font-size: 2.25rem; letter-spacing: -.02em }
h2 { font-size: 1.6rem; letter-spacing: -.01em }
h3 { font-size: 1.15rem; margin-top: 2.25rem }
h2 a, h3 a { color: inherit }
p { margin: .5rem 0; max-width: 44rem }
code, pre { font: .85em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
p code, li code, td code { background: var(--panel); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere }
pre { margin: .75rem 0; padding: 1rem; background: var(--code); color: var(--code-text); border-radius: .5rem;
  font-size: .8rem; max-width: 60rem; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2 }
pre code { font-size: inherit }
li pre code { background: none; padding: 0 }
small { color: var(--soft) }

header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding: .6rem 1rem; font-size: .95rem;
  background: var(--page); border-bottom: 1px solid var(--line) }
header ul { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; list-style: none; margin: 0; padding: 0 }
header a { color: var(--soft) }
header .brand { color: var(--text); font-weight: 650; letter-spacing: -.01em }
header [aria-current] { color: var(--text); font-weight: 600 }
[role=search] { display: flex; flex: 1; gap: .4rem; min-width: 15rem; max-width: 26rem; margin-left: auto }
[role=search] input { flex: 1; min-width: 0 }
[role=search] :is(input, button) { font: inherit; color: inherit; background: var(--panel);
  border: 1px solid var(--soft); border-radius: .4rem; padding: .25rem .6rem }
[role=search] ::placeholder { color: var(--soft); opacity: 1 }
.contents { background: var(--panel); border-bottom: 1px solid var(--line); font-size: .9rem }
.contents a { overflow-wrap: anywhere }
.contents ul { display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; list-style: none; margin: 0; padding: .75rem 1rem }
.contents ul ul { display: none }
.prose { padding: 1.5rem 1rem 6rem }
section { margin-bottom: 3.5rem }
table { max-width: 60rem; margin: .75rem 0; border-collapse: collapse; font-size: .9rem }
tr { border-top: 1px solid var(--line) }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0 }
.prose li { margin: .35rem 0; max-width: 44rem }
.results { padding: 0; list-style: none }
.results li { margin: 1.25rem 0 }
.results p { margin: 0; overflow-wrap: anywhere }

.reference, .reference rapi-doc { display: block }
rapi-doc::part(section-overview) { padding-top: 1.5rem }
@media (min-width: 768px) {
  body:has(.reference) { display: flex; flex-direction: column; height: 100dvh }
  .reference { flex: 1; min-height: 0 }
  .reference rapi-doc { width: 100%; height: 100% }
}
@media (min-width: 64rem) {
  header { position: sticky; top: 0; z-index: 2; height: 3.5rem; flex-wrap: nowrap }
  .contents { position: fixed; inset: 3.5rem auto 0 0; width: 16rem; border-width: 0 1px 0 0; border-style: solid;
    border-color: var(--line); overflow: hidden auto }
  .contents ul { display: block; padding: 1.5rem 1.25rem }
  .contents > ul > li { margin-bottom: 1rem; font-weight: 600 }
  .contents ul ul { display: block; padding: .35rem 0 0; font-weight: 400 }
  .contents ul ul a { display: block; padding: .15rem 0; color: var(--soft) }
  .prose { margin-left: 16rem; padding: 2.5rem 3rem 8rem; max-width: 84rem }
}
`;

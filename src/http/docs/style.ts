import { palette } from './palette.js';

/** The whole style of `/docs`: system fonts, light and dark, one column on a phone, three on a desk. Code wraps. */
export const style = `${palette}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 4rem }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.6 system-ui, sans-serif }
[hidden] { display: none !important }
a { color: var(--accent); text-decoration: none }
a:hover, main :is(p, li, td) a { text-decoration: underline }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
h1, h2, h3, h4 { line-height: 1.25; margin: 0; overflow-wrap: anywhere }
h1 { font-size: 2.25rem; letter-spacing: -.02em }
h1 small { font-size: 1rem; font-weight: 400; letter-spacing: 0 }
h2 { font-size: 1.6rem; letter-spacing: -.01em }
h3 { font-size: 1.15rem }
h2 a, h3 a { color: inherit }
h4 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin: 1.75rem 0 .5rem }
p { margin: .5rem 0; max-width: 44rem }
code, pre { font: .85em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
p code, li code, td code { background: var(--panel); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere }
pre { margin: .5rem 0; padding: 1rem; background: var(--code); color: var(--code-text); border-radius: .5rem;
  font-size: .8rem; max-width: 60rem; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2 }
pre code { font-size: inherit; user-select: all }
li pre code { background: none; padding: 0 }

header { display: contents }
header ul { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; list-style: none; margin: 0; padding: .75rem 1rem;
  font-size: .95rem }
header a { color: var(--soft) }
header [aria-current] { color: var(--text); font-weight: 600 }
[role=search] { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: .5rem; font-size: .9rem;
  padding: .5rem 1rem; background: var(--page); border-bottom: 1px solid var(--line) }
#search::placeholder { color: var(--soft); opacity: 1 }
[role=search] input { flex: 1; min-width: 0; max-width: 20rem; font: inherit; color: inherit; background: var(--panel);
  border: 1px solid var(--soft); border-radius: .4rem; padding: .3rem .6rem }
#found { min-width: 6.5rem; color: var(--soft); font-variant-numeric: tabular-nums }
.contents { background: var(--panel); border: solid var(--line); border-width: 1px 0; font-size: .9rem }
.contents a { overflow-wrap: anywhere }
.contents ul { display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; list-style: none; margin: 0; padding: .75rem 1rem }
.contents ul ul { display: none }
main { padding: 1.5rem 1rem 6rem }
section { margin-bottom: 3.5rem }

.entry { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0 }
.entry > summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: .15rem .75rem; padding: .55rem .75rem;
  border-radius: .5rem; color: inherit; font-size: 1rem; cursor: pointer; list-style: none }
.entry > summary::-webkit-details-marker { display: none }
.entry > summary::after { content: '▸'; margin-left: auto; color: var(--soft) }
.entry[open] > summary::after { content: '▾' }
.entry > summary:hover { background: var(--panel) }
.entry > summary h3 { font-size: 1rem }
.entry > summary > :last-child:not(:first-child, h3) { color: var(--soft); overflow-wrap: anywhere }
.entry[open] > summary { border-bottom: 1px solid var(--line); border-radius: .5rem .5rem 0 0 }
.entry > div { padding: .75rem; scroll-margin-top: 8rem }
.method { width: 4.5rem; text-align: center; text-transform: uppercase; font-size: .75rem; letter-spacing: .04em;
  padding: .05rem .45rem; border: 1px solid; border-radius: .3rem }
.get { color: var(--get) } .post { color: var(--post) } .patch { color: var(--patch) } .delete { color: var(--delete) }
.needs { color: var(--soft); font-size: .9rem }
.status { font-variant-numeric: tabular-nums; margin-right: .25rem }
.good { color: var(--good) } .bad { color: var(--bad) }

table { width: 100%; max-width: 60rem; margin: .75rem 0; border-collapse: collapse; font-size: .9rem }
tr { border-top: 1px solid var(--line) }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; font-weight: 400 }
thead th { color: var(--soft) }
th code { font-weight: 600; overflow-wrap: anywhere }
small, .type { color: var(--soft) }
.type small { display: block; overflow-wrap: anywhere }
details details, section > details { margin: .75rem 0 }
summary { cursor: pointer; color: var(--accent); font-size: .9rem }
details ul { padding-left: 0; list-style: none; font-size: .9rem }
details li { margin: .4rem 0 }

.prose h3 { margin-top: 2.25rem }
.prose li { margin: .35rem 0; max-width: 44rem }
.prose pre { margin: .75rem 0 }

@media (max-width: 40rem) {
  tr { display: block; padding: .6rem 0 }
  th, td { display: block; padding: 0 }
  thead { position: absolute; clip-path: inset(50%) }
  td.type small { display: inline; margin-left: .5rem }
  .entry > summary h3 { flex: 1 1 calc(100% - 6rem); min-width: 0 }
}
@media (min-width: 64rem) {
  html { scroll-padding-top: 5rem }
  header { position: sticky; top: 0; z-index: 2; display: flex; justify-content: space-between; align-items: center;
    height: 3.5rem; background: var(--page); border-bottom: 1px solid var(--line) }
  header ul { padding: 0 1.25rem }
  [role=search] { position: static; border: 0; padding-right: 3rem }
  [role=search] input { width: 20rem }
  .contents { position: fixed; inset: 3.5rem auto 0 0; width: 16rem; border-width: 0 1px 0 0; overflow: hidden auto }
  .contents ul { display: block; padding: 1.5rem 1.25rem }
  .contents > ul > li { margin-bottom: 1rem; font-weight: 600 }
  .contents ul ul { display: block; padding: .35rem 0 0; font-weight: 400 }
  .contents ul ul a { display: block; padding: .15rem 0; color: var(--soft) }
  main { margin-left: 16rem; padding: 2.5rem 3rem 8rem; max-width: 84rem }
  .entry > div { padding: 1rem 1.25rem 1.5rem }
  th { width: 30% } .type { width: 26% }
}
@media (min-width: 80rem) {
  .entry > summary { flex-wrap: nowrap }
  .entry > summary :is(h3, .method) { flex: none }
  .entry > summary h3 { width: 27rem }
  .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 27rem); gap: 3rem; align-items: start }
  .code { position: sticky; top: 4.5rem }
  .code h4:first-child { margin-top: 0 }
}
`;

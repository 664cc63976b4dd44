import { palette } from './palette.js';

/** The whole style of `/docs`: system fonts, light and dark, one column on a phone, three on a desk. */
export const style = `${palette}
* { box-sizing: border-box }
html { scroll-padding-top: 4rem; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.6 system-ui, sans-serif }
a { color: var(--accent); text-decoration: none }
a:hover { text-decoration: underline }
h1, h2, h3, h4 { line-height: 1.25; margin: 0 }
h1 { font-size: 2.25rem; letter-spacing: -.02em }
h1 small { font-size: 1rem; font-weight: 400; letter-spacing: 0; color: var(--soft) }
h2 { font-size: 1.6rem; letter-spacing: -.01em }
h3 { font-size: 1.15rem }
h3 a { color: inherit }
h4 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin: 1.75rem 0 .5rem }
p { margin: .5rem 0; max-width: 44rem }
code, pre { font: .85em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
p code, li code, td code { background: var(--panel); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere }
pre { margin: 0; padding: 1rem; background: var(--code); color: var(--code-text); border-radius: .5rem;
  overflow: auto; max-height: 32rem; font-size: .8rem }
pre code { font-size: inherit; user-select: all }

nav { position: sticky; top: 0; z-index: 1; background: var(--page); border-bottom: 1px solid var(--line);
  overflow-x: auto; font-size: .9rem }
nav ul { display: flex; gap: 1.25rem; list-style: none; margin: 0; padding: .75rem 1rem; white-space: nowrap }
nav ul ul { display: none }
main { padding: 1.5rem 1rem 6rem }
section { margin-bottom: 4rem }
article { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 2rem }
.endpoint { overflow-wrap: anywhere }
.endpoint code { background: none; padding: 0; font-size: .95rem }
.method { display: inline-block; text-transform: uppercase; font-size: .75rem; letter-spacing: .04em;
  padding: .05rem .45rem; border: 1px solid; border-radius: .3rem }
.get { color: var(--get) } .post { color: var(--post) } .patch { color: var(--patch) } .delete { color: var(--delete) }
.needs { color: var(--soft); font-size: .9rem }
.status { font-variant-numeric: tabular-nums; margin-right: .25rem }
.good { color: var(--good) } .bad { color: var(--bad) }

table { width: 100%; border-collapse: collapse; font-size: .9rem }
tr { border-top: 1px solid var(--line) }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; font-weight: 400 }
th code { font-weight: 600 }
small, .type { color: var(--soft) }
.type small { display: block; overflow-wrap: anywhere }
details { margin: .75rem 0 }
summary { cursor: pointer; color: var(--accent); font-size: .9rem }
details ul { padding-left: 0; list-style: none; font-size: .9rem }
details li { margin: .4rem 0 }
details pre { margin-top: .75rem }

@media (max-width: 40rem) {
  tr { display: block; padding: .6rem 0 }
  th, td { display: block; padding: 0 }
  td.type small { display: inline; margin-left: .5rem }
}
@media (min-width: 64rem) {
  html { scroll-padding-top: 1rem }
  nav { position: fixed; inset: 0 auto 0 0; width: 16rem; border: 0; border-right: 1px solid var(--line);
    overflow: hidden auto; background: var(--panel) }
  nav ul { display: block; padding: 1.5rem 1.25rem; white-space: normal }
  nav > ul > li { margin-bottom: 1rem; font-weight: 600 }
  nav ul ul { display: block; padding: .35rem 0 0; font-weight: 400 }
  nav ul ul a { display: block; padding: .15rem 0; color: var(--soft) }
  main { margin-left: 16rem; padding: 3rem 3rem 8rem; max-width: 84rem }
  th { width: 30% } .type { width: 26% }
}
@media (min-width: 80rem) {
  .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 27rem); gap: 3rem; align-items: start }
  .code { position: sticky; top: 1rem }
  .code h4:first-child { margin-top: 0 }
}
`;

import { execFileSync } from 'node:child_process';

const marks = [
  '<!-- made by `npm run drawing` from the imports -->\n\n',
  '\n<!-- end of the drawing -->',
] as const;

const rooms: Record<string, string> = {
  shipments: 'accept and create an order',
  'engine/engine': 'all that the others know of the engine',
  'engine/record': 'record an event and what it owes',
  'engine/schedule': 'decide what starts',
  'engine/outbox': 'every statement on what is owed',
  'engine/attempt': 'from claim to outcome',
  'engine/send': 'one signed request',
  'engine/settle': 'settle an attempt',
  'engine/circuit': 'stop attempts to a failing webhook',
  'engine/sweep': 'put right what was missed',
  'catch-up': 'send again, one or many; test',
  history: 'show what was sent; keep it for a while',
  feed: 'events in their order',
  webhooks: 'targets, secrets, settings',
};

interface Cruised {
  modules: { source: string; dependencies: { resolved: string }[] }[];
}

/** Mermaid; an arrow that a longer path implies is left out. */
export function drawing(): string {
  const names = Object.keys(rooms);
  const imports = importsBetween(names);
  const arrows = names.flatMap((from) =>
    [...imports.get(from)!]
      .filter((to) => ![...imports.get(from)!].some((via) => via !== to && reaches(imports, via, to)))
      .map((to) => `  ${nodeOf(from)} --> ${nodeOf(to)}`),
  );
  const nodes = names.map((name) => `  ${nodeOf(name)}["<b>${name}</b><br/>${rooms[name]}"]`);
  return ['```mermaid', 'flowchart TD', ...nodes, ...arrows, '```', ''].join('\n');
}

function importsBetween(names: string[]): Map<string, Set<string>> {
  const json = execFileSync(
    process.execPath,
    ['node_modules/.bin/depcruise', 'src', '--output-type', 'json'],
    {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const imports = new Map(names.map((name) => [name, new Set<string>()]));
  const roomOf = (file: string) =>
    names.find((name) => file.startsWith(`src/${name}/`) || file === `src/${name}.ts`);
  for (const { source, dependencies } of (JSON.parse(json) as Cruised).modules) {
    const from = roomOf(source);
    if (from === undefined) continue;
    for (const { resolved } of dependencies) {
      const to = roomOf(resolved);
      if (to !== undefined && to !== from) imports.get(from)!.add(to);
    }
  }
  return imports;
}

function reaches(imports: Map<string, Set<string>>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const rest = [from];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (next === to) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    rest.push(...imports.get(next)!);
  }
  return false;
}

const nodeOf = (name: string): string => name.replace('engine/', '').replace('-', '_');

export function drawingIn(document: string): string {
  const [, rest = ''] = document.split(marks[0]);
  const [found] = rest.split(marks[1]);
  if (!found) throw new Error(`docs/architecture.md has no drawing between ${marks.join(' and ')}`);
  return found;
}

export const withDrawing = (document: string): string => document.replace(drawingIn(document), drawing);

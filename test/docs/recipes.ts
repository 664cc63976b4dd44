/** The receivers that the documents show, and what a reader's project has around each. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { python } from '../client/python.js';
import { codeBlocks, readTracked } from '../support/project-files.js';

interface Surroundings {
  tools: string[];
  /** Where its packages come from. */
  registry?: 'npm' | 'PyPI';
  files?: Record<string, string>;
  /** The command that replaces the one that the document names. */
  command?: string;
}

export interface Recipe extends Surroundings {
  name: string;
  files: Record<string, string>;
  command: string;
  /** Why it cannot run here. */
  lacks: string | null;
}

/** Versions that run on the oldest Node and Python that we support. */
const npmPackages = [
  'fastify@5',
  ...['@nestjs/common@11', '@nestjs/core@11', '@nestjs/platform-express@11', 'reflect-metadata', 'rxjs@7'],
];
const pythonPackages = ['fastapi<1', 'uvicorn<1', 'flask==3.*', 'django==4.2.*'];
const installTimeoutMs = 240_000;

const manage = `
import sys
from django.conf import settings
from django.core.management import execute_from_command_line
from django.urls import path

settings.configure(ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, SECRET_KEY="of-a-test")

import views

urlpatterns = [path("hook", views.hook)]
execute_from_command_line(sys.argv)
`;

/** It calls HOOK as a Rack server does: no gem of one comes with Ruby. */
const rackServer = `
require 'socket'
require 'stringio'
require_relative 'hook'

$stdout.sync = true
server = TCPServer.new('127.0.0.1', Integer(ARGV.fetch(0)))
loop do
  Thread.new(server.accept) do |socket|
    env = { 'REQUEST_METHOD' => socket.gets.split.first }
    while (line = socket.gets.chomp) != ''
      name, value = line.split(': ', 2)
      env["HTTP_#{name.upcase.tr('-', '_')}"] = value
    end
    env['rack.input'] = StringIO.new(socket.read(env['HTTP_CONTENT_LENGTH'].to_i).b)
    status, headers, body = HOOK.call(env)
    socket.write("HTTP/1.1 #{status} -\\r\\nconnection: close\\r\\ncontent-length: 0\\r\\n\\r\\n")
    socket.close
  end
end
`;

const surroundings: Record<string, Surroundings> = {
  Node: { tools: ['node'] },
  Express: { tools: ['node'] },
  Fastify: { tools: ['node'], registry: 'npm' },
  NestJS: {
    tools: ['node'],
    registry: 'npm',
    files: {
      'package.json': '{ "type": "module", "scripts": { "start": "tsx main.ts" } }',
      'tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true } }',
    },
  },
  FastAPI: { tools: [python], registry: 'PyPI' },
  Flask: { tools: [python], registry: 'PyPI' },
  Django: { tools: [python], registry: 'PyPI', files: { 'manage.py': manage } },
  Go: { tools: ['go'] },
  PHP: { tools: ['php'] },
  Ruby: { tools: ['ruby'], files: { 'server.rb': rackServer }, command: 'ruby server.rb 9001' },
  Java: { tools: ['java', 'javac'] },
  'C#': {
    tools: ['dotnet'],
    files: {
      'hook.csproj': `<Project Sdk="Microsoft.NET.Sdk.Web"><PropertyGroup><TargetFramework>net8.0</TargetFramework>
        <RollForward>Major</RollForward><ImplicitUsings>enable</ImplicitUsings><Nullable>enable</Nullable>
        </PropertyGroup></Project>`,
    },
  },
};

const firstLine = /^(?:<\?php )?(?:\/\/|#) (\S+?)(?:: (.+))?\n/;

/** The functions that the recipes import, by file. */
const verifiers = Object.fromEntries(
  codeBlocks('Verify', 'docs/receiving.md').map(({ code }) => [firstLine.exec(code)![1]!, code]),
);

export const recipes: Recipe[] = [readmeRecipe(), ...recipesOf(readTracked('docs/receiving.md'))];

function readmeRecipe(): Recipe {
  const [verify, receiver] = codeBlocks('Receive and verify').map(({ code }) => code);
  const files = { 'verify.mjs': verify!, 'receiver.mjs': receiver! };
  return recipe('Node', files, 'node receiver.mjs');
}

function recipesOf(document: string): Recipe[] {
  const [, section] = document.split('\n## Recipes\n');
  const parts = section!.split('\n## ')[0]!.matchAll(/^### (.+)\n\n(?:\w.*\n\n)?```\w+\n([\s\S]*?)^```$/gm);
  return [...parts].map(([, name, code]) => {
    const [, file, command] = firstLine.exec(code!) ?? [];
    if (!file || !command)
      throw new Error(`The recipe for ${name} names no file and command in its first line.`);
    return recipe(name!, { ...verifiers, [file]: code! }, command);
  });
}

function recipe(name: string, files: Record<string, string>, command: string): Recipe {
  const around = surroundings[name] ?? { tools: [] };
  const missing = around.tools.filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  return {
    name,
    command,
    ...around,
    files: { ...around.files, ...files },
    lacks: missing.length > 0 ? `no ${missing.join(', no ')} on PATH` : null,
  };
}

const folder = mkdtempSync(join(tmpdir(), 'parcelhook-recipes-'));
const fromPyPI = join(folder, 'PyPI');

export const removeRecipes = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

/** Fills in `lacks`, and says loudly which recipes cannot run here. */
export async function installPackages(): Promise<void> {
  mkdirSync(join(folder, 'node_modules/@parcelhook'), { recursive: true });
  symlinkSync(resolve('dist/client'), join(folder, 'node_modules/@parcelhook/client'));
  symlinkSync(resolve('node_modules/express'), join(folder, 'node_modules/express'));
  const npm = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', join(folder, 'npm')];
  const pip = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-compile',
    '--retries',
    '1',
  ];
  await Promise.all([
    install('npm', () => run('npm', [...npm, ...npmPackages])),
    install('PyPI', async () => {
      await run(python, [...pip, '--target', fromPyPI, ...pythonPackages]);
      const { stdout } = await run(python, ['-c', 'import sys; print(sys.executable)']);
      symlinkSync(stdout.trim(), join(fromPyPI, 'bin/python'));
    }),
  ]);
  for (const { name, lacks } of recipes)
    if (lacks !== null) console.warn(`\n  THE RECIPE FOR ${name} IS NOT TESTED: ${lacks}.\n`);
}

const run = (program: string, args: string[]) =>
  promisify(execFile)(program, args, { timeout: installTimeoutMs, killSignal: 'SIGKILL' });

async function install(registry: Surroundings['registry'], installs: () => Promise<unknown>): Promise<void> {
  const users = recipes.filter((each) => each.registry === registry && each.lacks === null);
  if (users.length === 0) return;
  await installs().catch((error: unknown) => {
    for (const each of users) each.lacks = `its packages could not be installed: ${String(error)}`;
  });
}

export interface Place {
  command: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** Writes its files, and returns how to run it on `port` instead of 9001: what a start compiles serves the next one. */
export function setUp({ name, files, command, registry }: Recipe, port: number): Place {
  const cwd = mkdtempSync(join(folder, 'recipe-'));
  const onPort = (text: string) => text.replaceAll('9001', String(port));
  if (!onPort(command + Object.values(files).join('')).includes(String(port)))
    throw new Error(`The recipe for ${name} does not listen on 9001.`);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), onPort(text));
  if (registry === 'npm') symlinkSync(join(folder, 'npm/node_modules'), join(cwd, 'node_modules'));
  const path = [join(fromPyPI, 'bin'), resolve('node_modules/.bin'), process.env.PATH].join(':');
  return { command: onPort(command), cwd, env: { ...process.env, PATH: path, PYTHONPATH: fromPyPI } };
}

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OLDEST_NODE, nodeProblem } from '../../src/machinery/process/node-version.js';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The modules that users import, as package.json's `exports` names them. */
const DOORS = Object.values(
  (JSON.parse(read('package.json')) as { exports: Record<string, string | { default: string }> }).exports,
)
  .filter((door) => typeof door !== 'string')
  .map((door) => door.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts'));

/** Runs `args` with a Node that takes itself for another version. */
function asNode(version: string, ...args: string[]): { status: number | null; output: string } {
  const disguise = `Object.defineProperties(process, {
    version: { value: 'v${version}' },
    versions: { value: { ...process.versions, node: '${version}' } },
  });`;
  const preload = `data:text/javascript,${encodeURIComponent(disguise)}`;
  const { status, stderr, stdout } = spawnSync(process.execPath, ['--import', preload, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

describe('the Node that is needed', () => {
  const oldest = OLDEST_NODE;

  it('is what package.json says, and the README in the same words', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    expect(engines.node).toBe(`>=${oldest}`);
    expect(read('README.md')).toContain(`Node ${oldest.replace(/\.0$/, '')} or newer`);
  });

  it('is what the image and the one that npm brings along have', () => {
    const [, image] = /^FROM node:(\d+)/m.exec(read('Dockerfile')) ?? [];
    expect(nodeProblem(`v${image}.0.0`, oldest)).toBeUndefined();
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: { node: string } };
    expect(nodeProblem(devDependencies.node, oldest)).toBeUndefined();
  });

  it.each([
    { version: 'v20.20.2', refused: true },
    { version: 'v22.18.9', refused: true },
    { version: 'v22.19.0', refused: false },
    { version: 'v22.20.0', refused: false },
    { version: 'v24.1.0', refused: false },
  ])('is not older than 22.19: $version', ({ refused, version }) => {
    expect(nodeProblem(version, '22.19.0') !== undefined).toBe(refused);
  });

  it('is asked for in one line by the program itself, before it loads anything else', () => {
    const { output, status } = asNode(
      '20.20.2',
      '-C',
      'rollkeeper:source',
      '--import',
      'tsx',
      'src/rollkeeper/main.ts',
      '--version',
    );
    expect(output).toBe(
      `rollkeeper: Node ${oldest} or newer is needed, this is v20.20.2; \`npm start\` and \`npx rollkeeper\` bring one along\n`,
    );
    expect(status).toBe(1);
  });

  it.each(DOORS)('is asked for by the door %s before it imports anything else', (door) => {
    const [first] = /^(import|export) .*$/m.exec(read(door)) ?? [''];
    expect(first).toBe("import '@rollkeeper/machinery/process/require-node';");
  });

  it('is asked for in one line by what the doors import first', () => {
    const { output, status } = asNode(
      '20.20.2',
      '-C',
      'rollkeeper:source',
      '--import',
      'tsx',
      'src/machinery/process/require-node.ts',
    );
    expect(output).toContain(`Error: rollkeeper: Node ${oldest} or newer is needed, this is v20.20.2\n`);
    expect(status).toBe(1);
  });

  const ask = ['--input-type=module', '-e'];
  const ensureNode = `import { ensureNode } from './scripts/lib/setup.mjs'; console.log(ensureNode());`;

  it('is brought along by npm where this one is too old, and else this one', () => {
    expect(asNode('20.20.2', ...ask, ensureNode).output.trim()).toMatch(/node_modules\/node\/bin\/node$/);
    expect(asNode(oldest, ...ask, ensureNode).output.trim()).toBe(process.execPath);
  });

  it('must be 20 at least for npm to bring one along', () => {
    const ensure = `import { ensureDependencies } from './scripts/lib/setup.mjs'; await ensureDependencies();`;
    const { output, status } = asNode('18.19.0', ...ask, ensure);
    expect(output).toBe('rollkeeper: Node 20.0.0 or newer is needed to begin with, this is v18.19.0\n');
    expect(status).toBe(1);
  });
});

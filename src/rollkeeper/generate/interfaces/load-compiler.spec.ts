import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadCompiler } from './load-compiler.js';

const SIX = 'module.exports = { version: "6.0.2", createProgram() {} };';
const SEVEN = 'module.exports = { version: "7.0.2" };';

describe('the compiler of a project', () => {
  let project: string;
  let module: string;
  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), 'rollkeeper-compiler-'));
    module = join(project, 'kinds.ts');
  });
  afterEach(() => rmSync(project, { recursive: true }));

  const install = (name: string, text: string): void => {
    const folder = join(project, 'node_modules', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), `{ "main": "index.cjs" }`);
    writeFileSync(join(folder, 'index.cjs'), text);
  };
  /** As where ours has none either. */
  const load = () => loadCompiler(module, pathToFileURL(module).href);

  it('is its TypeScript, or the one beside a TypeScript without an API', () => {
    install('@typescript/typescript6', SIX);
    install('typescript', SEVEN);
    expect(load().version).toBe('6.0.2');
  });

  it('is ours where it has none', () => {
    expect(typeof loadCompiler(module).createProgram).toBe('function');
  });

  it('is asked for by name', () => {
    expect(load).toThrow(/needs the API of TypeScript's compiler; npm install --save-dev typescript$/);
  });

  it('is asked for beside a TypeScript without an API', () => {
    install('typescript', SEVEN);
    expect(load).toThrow('typescript 7.0.2 has none, so npm install --save-dev @typescript/typescript6');
  });
});

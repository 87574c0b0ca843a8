import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runConformanceCli } from './conformance-cli.js';
import type { ConformanceFormat } from './conformance-format.js';
import { formats } from './formats.js';

/** Passes a case unless it lists differences. */
const stub: ConformanceFormat = {
  name: 'stub',
  matches: ({ given }) => given !== undefined,
  run: async ({ given }) => {
    if (given === 'throw') throw new Error('broken');
    return Array.isArray(given) ? given.map(String) : [];
  },
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conformance-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function fileOf(content: string | Buffer): Promise<string> {
  const file = join(folder, 'cases.jsonl');
  await writeFile(file, content);
  return file;
}

async function cli(files: string[], known: readonly ConformanceFormat[] = [stub]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runConformanceCli(files, known, { out: (l) => out.push(l), err: (l) => err.push(l) });
  return { code, out, err };
}

describe('npm run conformance', () => {
  it('counts what passes, and ends well', async () => {
    const file = await fileOf('{"id":"a","given":1}\n\n{"id":"b","given":2}\n');
    expect(await cli([file, file])).toEqual({ code: 0, out: ['4 passed, 0 failed'], err: [] });
  });

  it('reads gzipped files as well, by what is in them', async () => {
    const file = await fileOf(gzipSync('{"id":"a","given":1}'));
    expect((await cli([file])).out).toEqual(['1 passed, 0 failed']);
  });

  it('says what differs, a controller that breaks included', async () => {
    const file = await fileOf('{"id":"a","given":["x: expected 1, got 2"]}\n{"id":"b","given":"throw"}\n');
    expect(await cli([file])).toEqual({
      code: 1,
      out: ['FAIL a', '  x: expected 1, got 2', 'FAIL b', '  threw broken', '0 passed, 2 failed'],
      err: [],
    });
  });

  it.each([
    ['{"id":"a","given":1}\n{"id":', ':2: not JSON'],
    ['{"given":1}', ':1: not a recorded case: it has no "id"'],
    ['{"id":"a"}', ':1: a case of no known format (known: stub)'],
    ['\n', ': holds no case'],
    [Buffer.from([0x1f, 0x8b, 1]), ': cannot be read'],
  ])('a malformed file is named with its line, and nothing runs: %j', async (content, problem) => {
    const { code, out, err } = await cli([await fileOf(content)]);
    expect([code, out]).toEqual([1, []]);
    expect(err[0]).toContain(problem);
  });

  it('a missing file, or none at all, is reported', async () => {
    expect((await cli([join(folder, 'none')])).err[0]).toContain('cannot be read');
    expect((await cli([])).err[0]).toMatch(/^usage: npm run conformance/);
  });

  it('makes a format ready with what the first line says, and closes it', async () => {
    const seen: unknown[] = [];
    const format: ConformanceFormat = {
      ...stub,
      open: async (setup) => void seen.push(setup),
      close: async () => void seen.push('closed'),
    };
    const file = await fileOf('{"setup":[1]}\n{"id":"a","given":1}\n');
    expect((await cli([file], [format])).out).toEqual(['1 passed, 0 failed']);
    expect(seen).toEqual([[1], 'closed']);
  });

  it('prints in what the cases agree', async () => {
    const file = await fileOf('{"id":"a","given":1}\n');
    const counting: ConformanceFormat = { ...stub, agreed: () => ['all: code 1/1'] };
    expect((await cli([file], [counting])).out).toEqual(['all: code 1/1', '1 passed, 0 failed']);
  });

  it('tells the formats of recordings apart', () => {
    const of = (recorded: object) =>
      formats.filter((format) => format.matches({ id: 'a', ...recorded })).map(({ name }) => name);
    expect(of({ given: { deployment: {} }, atRest: {} })).toEqual(['deployment']);
    expect(of({ given: { replicaSet: {} }, expect: {} })).toEqual(['replicaset']);
    expect(of({ given: { statefulSet: {} }, atRest: {} })).toEqual(['statefulset']);
    expect(of({ given: { podDisruptionBudget: {} }, expect: {} })).toEqual(['disruption']);
    expect(of({ method: 'POST', path: '/api/v1/pods', code: 201 })).toEqual(['answers']);
    expect(of({ given: {} })).toEqual([]);
  });
});

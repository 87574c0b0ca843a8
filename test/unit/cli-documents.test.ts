import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chartTable, chartValues } from '../support/chart-documents.js';
import { PROGRAM, cliReference, manPage, roff } from '../support/cli-documents.js';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');
const GENERATE = 'else run scripts/generate-cli-docs.mjs';

/** The text between the marks, without what a formatter changes. */
function generatedIn(markdown: string): string[] {
  const text = markdown.slice(
    markdown.indexOf('<!-- generated: begin -->'),
    markdown.indexOf('<!-- generated: end -->'),
  );
  return linesOf(text).slice(1);
}

function linesOf(markdown: string): string[] {
  return markdown
    .split('\n')
    .filter((line) => line !== '' && !/^\|[ :|-]+\|$/.test(line))
    .map((line) => line.replaceAll(/\s+/g, ' ').replaceAll(/\\(.)/g, '$1').trim());
}

describe('documents that are made from the command line', () => {
  it(`docs/CLI.md has each command, argument and option (${GENERATE})`, () => {
    expect(generatedIn(read('docs', 'CLI.md'))).toEqual(linesOf(cliReference()));
  });

  it(`the man page is up to date (${GENERATE})`, () => {
    expect(read('man', 'rollkeeper.1')).toBe(`${manPage()}\n`);
  });

  it('the man page holds nothing that groff would take for a request or an escape', () => {
    expect(roff('.TH and \\f')).toBe(String.raw`\&.TH and \ef`);
    expect(roff("'quoted' --x")).toBe(String.raw`\&'quoted' \-\-x`);
    const requests = new Set(read('man', 'rollkeeper.1').match(/^\.\w+/gm));
    expect([...requests].sort()).toEqual(['.B', '.I', '.SH', '.SS', '.TH', '.TP', '.br']);
  });

  it('the package ships the man page, the plugin of kubectl and its completion', () => {
    const { bin, files, man } = JSON.parse(read('package.json')) as {
      bin: Record<string, string>;
      files: string[];
      man: string[];
    };
    expect(man).toEqual(['./man/rollkeeper.1']);
    expect(Object.keys(bin)).toEqual(['rollkeeper', 'kubectl-rollkeeper', 'kubectl_complete-rollkeeper']);
    for (const script of Object.values(bin)) {
      expect(files).toContain(script);
      expect(read(script)).toMatch(/^#!\/usr\/bin\/env node\n/);
    }
  });

  it('each command and option says what it does', () => {
    for (const { description, name, options } of PROGRAM.commands) {
      expect(description, name).not.toBe('');
      for (const option of options) expect(option.description, `${name} ${option.name}`).not.toBe('');
    }
  });
});

describe('documents that are made from the chart', () => {
  it(`its README has each value (${GENERATE})`, () => {
    expect(generatedIn(read('helm', 'rollkeeper', 'README.md'))).toEqual(linesOf(chartTable()));
  });

  it('each value has a type', () => {
    const untyped = chartValues().filter(({ takes }) => takes === 'any');
    expect(untyped.map(({ path }) => path)).toEqual([]);
  });
});

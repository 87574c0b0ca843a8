import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderFile } from '../../src/rollkeeper/generate/operator/render-template.js';
import type { TemplatePart } from '../../src/rollkeeper/generate/operator/render-template.js';
import { ROOT, allowedInContext, parseDockerfile, stepsWithBases } from '../image/dockerfile.js';

const TEMPLATE = join(ROOT, 'src', 'rollkeeper', 'generate', 'operator', 'template');
const textOf = (path: string): string => readFileSync(join(TEMPLATE, path), 'utf8');
const names = {
  ...{ name: 'broom-operator', kind: 'Broom', singular: 'broom', plural: 'brooms', group: 'acme.io' },
};
/** Made for each operator, or by npm in it. */
const MADE = ['package.json', 'package-lock.json'];

describe.each([
  { name: 'by the registry', parts: [] as TemplatePart[], brought: [] },
  { name: 'by packages that are brought along', parts: ['vendor'] as TemplatePart[], brought: ['vendor'] },
])('the image of a new operator, $name,', ({ brought, parts }) => {
  const options = { names, parts: new Set(parts), nodeVersion: process.versions.node };
  const text = renderFile({ path: 'Dockerfile', text: textOf('Dockerfile') }, options)?.text ?? '';
  const stages = parseDockerfile(text);
  const last = stages.at(-1);
  if (!last) throw new Error('the Dockerfile has no stage');
  const steps = stages.flatMap((stage) => stage.steps);
  const copies = steps.filter(({ keyword }) => keyword === 'COPY');
  const sourcesOf = ({ words }: (typeof copies)[number]) => words.slice(0, -1);

  it('stands on one base, pinned to the Node that the operator was made for', () => {
    const images = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from));
    expect([...new Set(images)]).toEqual([`node:${process.versions.node}-trixie-slim`]);
  });

  it('copies what is there, and what .dockerignore lets in', () => {
    const sources = copies.filter(({ flags }) => flags['from'] === undefined).flatMap(sourcesOf);
    const isThere = (path: string) =>
      MADE.includes(path) || brought.includes(path) || existsSync(join(TEMPLATE, path));
    expect(sources.filter((path) => !isThere(path))).toEqual([]);
    const allowed = allowedInContext(join(TEMPLATE, '_dockerignore'));
    expect(sources.filter((path) => !allowed.includes(path))).toEqual([]);
  });

  it('copies from stages that come before, what these have made', () => {
    const made = copies.filter(({ flags }) => flags['from'] !== undefined);
    expect(made.map(({ flags }) => flags['from'])).toEqual(['build']);
    expect(made.flatMap(sourcesOf)).toEqual(['/app/dist']);
    expect(textOf('bundle.mjs')).toContain("outdir: 'dist'");
  });

  it('runs only scripts that the operator has, and installs by its lockfile', () => {
    const commands = steps.filter(({ keyword }) => keyword === 'RUN').map((step) => step.text);
    expect(commands).toEqual([expect.stringMatching(/^npm ci --ignore-scripts /), 'npm run bundle']);
  });

  it('has no compiler and no sources in the end, and runs as nobody in particular', () => {
    const own = stepsWithBases(last, stages);
    expect(own.filter(({ keyword }) => keyword === 'RUN')).toEqual([]);
    const users = own.filter(({ keyword }) => keyword === 'USER').map((step) => step.text);
    expect(users).toEqual([expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)]);
    expect(own.find(({ keyword }) => keyword === 'CMD')?.words).toEqual(['node', 'dist/main.mjs']);
  });
});

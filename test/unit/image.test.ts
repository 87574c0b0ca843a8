import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flagsOf } from '../image/compose.js';
import { ROOT, allowedInContext, ownDockerfile, stepsWithBases } from '../image/dockerfile.js';

const stages = ownDockerfile();
const last = stages.at(-1);
if (!last) throw new Error('the Dockerfile has no stage');
const steps = stepsWithBases(last, stages);
const only = (keyword: string) => {
  const [step, ...more] = steps.filter((each) => each.keyword === keyword);
  if (!step || more.length > 0) throw new Error(`the image must have one ${keyword}`);
  return step;
};
const packageJson = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>;
  scripts: Record<string, string>;
};

describe('the image', () => {
  it('stands on one base, pinned by tag and digest, with the Node that everything is tested on', () => {
    const images = stages.filter(({ from }) => !stages.some(({ name }) => name === from));
    expect(images.map(({ from }) => from)).toEqual([
      expect.stringMatching(/^node:[\d.]+-trixie-slim@sha256:[0-9a-f]{64}$/),
    ]);
    const [, version] = /^node:([\d.]+)/.exec(images[0]?.from ?? '') ?? [];
    expect(version).toBe(packageJson.devDependencies['node']);
  });

  it('is made of what .dockerignore lets in, which is what is there', () => {
    const sources = stages
      .flatMap((stage) => stage.steps)
      .filter(({ flags, keyword }) => keyword === 'COPY' && flags['from'] === undefined)
      .flatMap(({ words }) => words.slice(0, -1).map((word) => word.replace(/^\.\//, '')));
    expect([...new Set(sources)].sort()).toEqual(allowedInContext().sort());
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('has the production dependencies of the lockfile alone, and no compiler', () => {
    const [modules] = steps.filter(({ words }) => words.at(-1) === './node_modules');
    const { steps: installs = [] } = stages.find(({ name }) => name === modules?.flags['from']) ?? {};
    const commands = installs.filter(({ keyword }) => keyword === 'RUN').map(({ text }) => text);
    expect(commands[0]).toMatch(/^npm ci --omit=dev --ignore-scripts /);
    expect(steps.filter(({ keyword }) => keyword === 'RUN')).toEqual([]);
  });

  it('runs as nobody in particular, by number, as a kubelet with runAsNonRoot wants it', () => {
    expect(only('USER').text).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('starts a replica whose health is what is asked for', () => {
    expect(only('ENTRYPOINT').words).toEqual(['node', 'dist/main.js']);
    const { adminHost, adminPort } = flagsOf(only('CMD').words);
    expect(adminHost).toBe('0.0.0.0');
    const [node, main, ...check] = only('HEALTHCHECK').words;
    expect([node, main]).toEqual(only('ENTRYPOINT').words);
    expect(new URL(flagsOf(check)['url'] ?? '').port).toBe(adminPort);
    expect(only('EXPOSE').text).toBe(adminPort);
  });

  it('can be made in clean folders: no command names an absolute path', () => {
    const runs = stages.flatMap((stage) => stage.steps).filter(({ keyword }) => keyword === 'RUN');
    expect(runs.filter(({ text }) => /(^|\s)\//.test(text))).toEqual([]);
    expect(packageJson.scripts).toHaveProperty('image-check');
  });
});

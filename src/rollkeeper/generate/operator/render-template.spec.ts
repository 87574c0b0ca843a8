import { describe, expect, it } from 'vitest';
import { operatorNames } from './operator-names.js';
import { operatorPackage } from './operator-package.js';
import type { TemplatePart } from './render-template.js';
import { renderFile } from './render-template.js';

const NAMES = operatorNames({ name: 'backup-policy-operator', group: 'acme.io' });

const render = (path: string, text: string, ...parts: TemplatePart[]) =>
  renderFile({ path, text }, { names: NAMES, parts: new Set(parts), nodeVersion: '99.1.2' });

describe('the names of a new operator', () => {
  it('are made of its own: kind, plural and singular', () => {
    expect(NAMES).toEqual({
      name: 'backup-policy-operator',
      ...{ kind: 'BackupPolicy', singular: 'backuppolicy', plural: 'backuppolicies', group: 'acme.io' },
    });
    expect(operatorNames({ name: 'tidy', kind: 'Broom', group: 'acme.io' }).plural).toBe('brooms');
  });

  it.each([
    { asked: { name: 'Web', group: 'acme.io' }, problem: 'name: must be lower-case' },
    { asked: { name: 'w'.repeat(51), group: 'acme.io' }, problem: 'name: must be lower-case' },
    {
      asked: { name: 'deployment-operator', group: 'acme.io' },
      problem: 'kind: Deployment is a name of the kit',
    },
    { asked: { name: 'web', kind: 'web', group: 'acme.io' }, problem: 'kind' },
    { asked: { name: 'web', group: 'Acme' }, problem: 'group' },
  ])('are refused with what is wrong: $asked', ({ asked, problem }) => {
    expect(() => operatorNames(asked)).toThrow(problem);
  });
});

describe('a file of the template', () => {
  it('has the new names in its text and in its path', () => {
    expect(
      render('chart/crds/websites.yaml', 'website-operator: Website, website, websites.example.com'),
    ).toEqual({
      path: 'chart/crds/backuppolicies.yaml',
      text: 'backup-policy-operator: BackupPolicy, backuppolicy, backuppolicies.acme.io',
    });
    expect(render('_github/workflows/ci.yml', '')?.path).toBe('.github/workflows/ci.yml');
  });

  it('has the version of Node that the product is tested with', () => {
    expect(render('Dockerfile', 'FROM node:24.21.0-trixie-slim')?.text).toBe('FROM node:99.1.2-trixie-slim');
    expect(render('ci.yml', "{ node-version: '24.21.0', cache: npm }")?.text).toContain("'99.1.2'");
  });

  it('has a part only where it was asked for, without its marks', () => {
    const text = 'a\n  // [webhook\n  b\n  // webhook]\n# [vendor\nc\n# vendor]\nd\n';
    expect(render('x', text)?.text).toBe('a\nd\n');
    expect(render('x', text, 'webhook')?.text).toBe('a\n  b\nd\n');
    expect(render('x', text, 'webhook', 'vendor')?.text).toBe('a\n  b\nc\nd\n');
  });

  it('is left out with the only part that it has', () => {
    expect(render('src/webhook.ts', '')).toBeUndefined();
    expect(render('test/webhook.test.ts', '')).toBeUndefined();
    expect(render('src/webhook.ts', '', 'webhook')).toBeDefined();
  });
});

describe('the package.json of a new operator', () => {
  const product = {
    version: '1.2.3',
    engines: { node: '>=22' },
    dependencies: { zod: '4.0.0' },
    devDependencies: { typescript: '6.0.0', vitest: '4.0.0', '@types/node': '24.0.0' },
  };
  const packageOf = (parts: TemplatePart[], vendored = new Map<string, string>()) =>
    operatorPackage({ names: NAMES, parts: new Set(parts), product, vendored }) as Record<
      string,
      Record<string, string>
    >;

  it('has the product’s versions', () => {
    const { dependencies, devDependencies, engines } = packageOf([]);
    expect(dependencies).toEqual({
      '@rollkeeper/opentelemetry': '1.2.3',
      '@rollkeeper/runtime': '1.2.3',
      zod: '4.0.0',
    });
    expect(devDependencies).toMatchObject({ rollkeeper: '1.2.3', typescript: '6.0.0', vitest: '4.0.0' });
    expect(engines).toEqual(product.engines);
  });

  it('names every package by its file where they are brought along, those below others too', () => {
    const all = ['client', 'machinery', 'opentelemetry', 'runtime', 'testing', 'tls', 'webhooks', 'nest'];
    const vendored = new Map(
      all.map((name) => [`@rollkeeper/${name}`, `vendor/rollkeeper-${name}-1.2.3.tgz`]),
    );
    const { dependencies, devDependencies } = packageOf(['webhook', 'vendor'], vendored);
    expect(dependencies?.['@rollkeeper/tls']).toBe('file:vendor/rollkeeper-tls-1.2.3.tgz');
    const both = [...Object.keys(dependencies ?? {}), ...Object.keys(devDependencies ?? {})];
    expect(both).toEqual(expect.arrayContaining([...vendored.keys()]));
    expect(both.length).toBe(new Set(both).size);
  });
});

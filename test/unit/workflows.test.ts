import { NoOperationTraceWriter, convertWorkflowTemplate, parseWorkflow } from '@actions/workflow-parser';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readYaml } from '../image/compose.js';
import { ROOT } from '../image/dockerfile.js';

const FOLDER = join('.github', 'workflows');
const names = readdirSync(join(ROOT, FOLDER));
const textOf = (name: string): string => readFileSync(join(ROOT, FOLDER, name), 'utf8');

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}
const workflow = (name: string): Workflow => readYaml(FOLDER, name) as Workflow;
const stepsOf = (name: string): Step[] => Object.values(workflow(name).jobs).flatMap(({ steps }) => steps);

/** The problems that GitHub's own parser finds in a workflow. */
async function problemsOf(content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name: 'workflow.yml', content }, new NoOperationTraceWriter());
  if (value) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

const packageJson = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  devDependencies: Record<string, string>;
};

describe.each(names)('the workflow %s', (name) => {
  it('is one that GitHub understands, its expressions too', async () => {
    expect(await problemsOf(textOf(name))).toEqual([]);
  });

  it('has no rights but those that a job asks for', () => {
    expect(workflow(name).permissions).toEqual({ contents: 'read' });
  });

  it('runs scripts that exist, on the Node that everything is tested on', () => {
    const scripts = [...textOf(name).matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => script);
    for (const script of scripts) expect(packageJson.scripts).toHaveProperty([script]);
    const versions = stepsOf(name).flatMap(({ with: { 'node-version': version } = {} }) => version ?? []);
    expect(new Set(versions)).toEqual(new Set([packageJson.devDependencies['node']]));
  });

  it('lets nothing from outside into a shell but by variables', () => {
    expect(stepsOf(name).filter(({ run = '' }) => run.includes('${{'))).toEqual([]);
  });

  it('uses actions of a named version', () => {
    for (const { uses } of stepsOf(name)) expect(uses ?? 'none@v0').toMatch(/^[\w/-]+@v\d+(\.\d+)*$/);
  });
});

describe('a workflow that is wrong', () => {
  it.each([
    { what: 'an unknown key', text: 'on: push\njobs: { a: { runs-on: x, stepz: [] } }' },
    {
      what: 'a job that is not there',
      text: 'on: push\njobs: { a: { needs: b, runs-on: x, steps: [{ run: x }] } }',
    },
    {
      what: 'an unknown function',
      text: 'on: push\njobs: { a: { runs-on: "${{ imagine() }}", steps: [{ run: x }] } }',
    },
  ])('is found out: $what', async ({ text }) => {
    expect(await problemsOf(text)).not.toEqual([]);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../src/testing/wait-for.js';
import { WANTED_MINORS, kubectls } from './support/kubectl.js';
import { SharedUp } from './support/shared-up.js';
import type { Finished } from './support/up.js';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'nginx-deployment.yaml');

for (const minor of WANTED_MINORS) {
  const found = kubectls().find(({ name }) => name.endsWith(minor));
  it.skipIf(!found)(`kubectl ${minor} is among those tested (skipped: it cannot be had here)`, () => {
    expect(found?.binary).toBeTruthy();
  });
}

describe.each(kubectls())('the life of one Deployment with $name', ({ binary, name }) => {
  const namespace = name.replaceAll(/[^a-z0-9]/g, '-');
  const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));
  let up: SharedUp;

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    expect((await kubectl('create', 'namespace', namespace)).code).toBe(0);
  });

  afterAll(async () => {
    await up.give();
    rmSync(folder, { recursive: true });
  });

  const kubectl = (...args: string[]): Promise<Finished> => up.kubectl(binary, ['-n', namespace, ...args]);
  const succeed = async (...args: string[]): Promise<string> => {
    const { code, stderr, stdout } = await kubectl(...args);
    expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
    return stdout;
  };
  const jsonpath = (what: string, path: string): Promise<string> =>
    succeed('get', ...what.split(' '), '-o', `jsonpath=${path}`);
  const names = async (what: string): Promise<string[]> =>
    (await jsonpath(what, '{range .items[*]}{.metadata.name}{"\\n"}{end}'))
      .split('\n')
      .filter((line) => line !== '');
  const replicaSetSizes = async (): Promise<number[]> =>
    (await jsonpath('rs', '{range .items[*]}{.spec.replicas}{"\\n"}{end}'))
      .split('\n')
      .filter(Boolean)
      .map(Number);

  it('carries an integer that no double holds into every pod, through every kind of change', async () => {
    const grace = '9007199254740993';
    const object = (of: string): string =>
      `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"exact","labels":{"app":"exact"}},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"exact"}},"template":{"metadata":{"labels":{"app":"exact"}},"spec":{"terminationGracePeriodSeconds":${of},"containers":[{"name":"a","image":"a:1"}]}}}}`;
    const file = join(folder, 'exact.json');
    /** The grace periods of the running pods, of the ReplicaSet that has them, and of the Deployment. */
    const graces = async (): Promise<string[]> => {
      await succeed('rollout', 'status', 'deployment/exact', '--timeout=60s');
      const text = await succeed('get', 'deploy,rs,pods', '-l', 'app=exact', '-o', 'json');
      return [...text.matchAll(/"terminationGracePeriodSeconds": (\d+)/g)].map(([, found = '']) => found);
    };
    writeFileSync(file, object(grace));
    await succeed('apply', '-f', file);
    expect(new Set(await graces())).toEqual(new Set([grace]));
    await succeed('set', 'image', 'deployment/exact', 'a=a:2');
    expect(new Set(await graces())).toEqual(new Set([grace]));
    const path = '/spec/template/spec/terminationGracePeriodSeconds';
    const patches = [
      [
        'strategic',
        '9007199254740995',
        (of: string) => `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":${of}}}}}`,
      ],
      [
        'merge',
        '9007199254740997',
        (of: string) => `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":${of}}}}}`,
      ],
      ['json', '9223372036854775807', (of: string) => `[{"op":"replace","path":"${path}","value":${of}}]`],
    ] as const;
    for (const [type, value, patch] of patches) {
      await succeed('patch', 'deployment', 'exact', '--type', type, '-p', patch(value));
      expect(await graces()).toContain(value);
      expect(await jsonpath('deployment exact', `{.spec.template.spec.terminationGracePeriodSeconds}`)).toBe(
        value,
      );
    }
    writeFileSync(file, object(grace));
    await succeed('apply', '--server-side', '--force-conflicts', '-f', file);
    expect(await graces()).toContain(grace);
    await succeed('delete', 'deployment', 'exact');
    await waitFor(async () => (await names('pods')).length === 0, { what: 'the pods to be gone' });
  });

  it('creates twenty pods and shows them', async () => {
    expect(await succeed('create', '-f', EXAMPLE)).toContain('deployment.apps/nginx created');
    await succeed('rollout', 'status', 'deployment/nginx', '--timeout=60s');
    expect(await succeed('get', 'deployment', 'nginx')).toMatch(/nginx\s+20\/20\s+20\s+20/);
    expect(await succeed('get', 'rs')).toMatch(/nginx-\w+\s+20\s+20\s+20/);
    const pods = await succeed('get', 'pods', '-o', 'wide');
    expect(pods.match(/1\/1\s+Running/g)).toHaveLength(20);
    expect(pods).toMatch(/node-\d/);
    const description = await succeed('describe', 'deployment', 'nginx');
    expect(description).toContain('20 desired | 20 updated | 20 total | 20 available | 0 unavailable');
    expect(description).toContain('ScalingReplicaSet');
    expect(await succeed('describe', 'pod', (await names('pods'))[0] ?? '')).toContain(
      'Controlled By:  ReplicaSet/nginx-',
    );
  });

  it('rolls out a new image and keeps the history', async () => {
    await succeed('set', 'image', 'deployment/nginx', 'nginx=nginx:1.28');
    expect(await succeed('rollout', 'status', 'deployment/nginx', '--timeout=60s')).toContain(
      'successfully rolled out',
    );
    expect(new Set((await jsonpath('pods', '{.items[*].spec.containers[0].image}')).split(' '))).toContain(
      'nginx:1.28',
    );
    expect(await succeed('rollout', 'history', 'deployment/nginx')).toMatch(/^1\s+[\s\S]*^2\s+/m);
    expect(await succeed('rollout', 'history', 'deployment/nginx', '--revision=1')).toContain('nginx:1.27');
  });

  it('goes back to a revision, which becomes the newest', async () => {
    await succeed('rollout', 'undo', 'deployment/nginx', '--to-revision=1');
    await succeed('rollout', 'status', 'deployment/nginx', '--timeout=60s');
    expect(await jsonpath('deployment nginx', '{.spec.template.spec.containers[0].image}')).toBe(
      'nginx:1.27',
    );
    const history = await succeed('rollout', 'history', 'deployment/nginx');
    expect(history).toMatch(/^2\s+[\s\S]*^3\s+/m);
    expect(history).not.toMatch(/^1\s+/m);
  });

  it('does not roll out while paused, and does once resumed', async () => {
    await succeed('rollout', 'pause', 'deployment/nginx');
    const before = await names('rs');
    await succeed('set', 'image', 'deployment/nginx', 'nginx=nginx:1.29');
    await waitFor(async () => {
      const [generation, observed] = (
        await jsonpath('deployment nginx', '{.metadata.generation} {.status.observedGeneration}')
      ).split(' ');
      return generation === observed;
    });
    expect(await names('rs')).toEqual(before);
    await succeed('rollout', 'resume', 'deployment/nginx');
    await succeed('rollout', 'status', 'deployment/nginx', '--timeout=60s');
    expect(await names('rs')).toHaveLength(before.length + 1);
  });

  it('restarts every pod', async () => {
    const before = await names('pods');
    await succeed('rollout', 'restart', 'deployment/nginx');
    await succeed('rollout', 'status', 'deployment/nginx', '--timeout=60s');
    await waitFor(async () => (await names('pods')).length === 20, { what: 'the old pods to be gone' });
    expect((await names('pods')).filter((pod) => before.includes(pod))).toEqual([]);
  });

  it('scales up and down', async () => {
    for (const size of [25, 3]) {
      await succeed('scale', 'deployment/nginx', `--replicas=${size}`);
      await succeed('rollout', 'status', 'deployment/nginx', '--timeout=60s');
      await waitFor(async () => (await names('pods')).length === size, { what: `${size} pods` });
    }
    expect((await replicaSetSizes()).filter((size) => size > 0)).toEqual([3]);
  });

  it('deletes in the background: ReplicaSets and pods follow', async () => {
    await succeed('delete', 'deployment', 'nginx');
    await waitFor(async () => (await names('rs')).length === 0 && (await names('pods')).length === 0, {
      what: 'everything to be gone',
    });
  });

  it('deletes in the foreground: the Deployment goes last', async () => {
    await succeed('create', '-f', EXAMPLE);
    await succeed('rollout', 'status', 'deployment/nginx', '--timeout=60s');
    await succeed('delete', 'deployment', 'nginx', '--cascade=foreground', '--wait=true', '--timeout=60s');
    expect(await names('rs')).toEqual([]);
  });

  it('orphans when asked to: ReplicaSet and pods stay, and are adopted by the next Deployment', async () => {
    await succeed('create', '-f', EXAMPLE);
    await succeed('rollout', 'status', 'deployment/nginx', '--timeout=60s');
    const pods = await names('pods');
    await succeed('delete', 'deployment', 'nginx', '--cascade=orphan');
    await waitFor(async () => (await jsonpath('rs', '{.items[*].metadata.ownerReferences}')) === '', {
      what: 'the ReplicaSet to have no owner',
    });
    expect(await names('pods')).toEqual(pods);
    await succeed('create', '-f', EXAMPLE);
    await succeed('rollout', 'status', 'deployment/nginx', '--timeout=60s');
    expect(await names('pods')).toEqual(pods);
  });

  it('empties a namespace that is deleted', async () => {
    const { code } = await up.kubectl(binary, ['delete', 'namespace', namespace, '--timeout=60s']);
    expect(code).toBe(0);
    const everywhere = ['get', 'pods', '-A', '-o', 'jsonpath={.items[*].metadata.namespace}'];
    expect((await up.kubectl(binary, everywhere)).stdout.split(' ')).not.toContain(namespace);
  });
});

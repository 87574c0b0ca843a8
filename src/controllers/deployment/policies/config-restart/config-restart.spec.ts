import { describe, expect, it } from 'vitest';
import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { setImage } from '../../../../testing/deployment-builder.js';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import type { KubernetesObject, PodSpec, ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import { ConfigMap, Secret } from '../../../../runtime/index.js';
import { createDeploymentController } from '../../definition.js';
import { DEBOUNCE_MS, LONGEST_DEBOUNCE_MS } from './config-restart.js';

const WATCHING = createDeploymentController({ restartOnConfig: true });
const KINDS = { configmap: ConfigMap, secret: Secret } as const;

interface Content {
  readonly data?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly uid?: string;
}

/** Pods that read `configmap/web` and `secret/key`, and `configmap/extra` where there is one. */
const POD: PodSpec = {
  containers: [
    {
      name: 'web',
      image: 'app:1',
      envFrom: [{ configMapRef: { name: 'web' } }, { configMapRef: { name: 'extra', optional: true } }],
      env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'key', key: 'key' } } }],
    },
  ],
};

function podShape(spec: PodSpec = POD): DeploymentShape {
  const template = { metadata: { labels: { app: 'web' } }, spec };
  return { spec: { template } as DeploymentShape['spec'] };
}

function put(
  lab: PolicyLab,
  source: string,
  { annotations, data = {}, uid = `uid-of-${source}` }: Content,
): void {
  const [kind = '', name = ''] = source.split('/');
  const type = KINDS[kind as keyof typeof KINDS];
  const metadata = { namespace: 'default', name, uid, ...(annotations && { annotations }) };
  lab.world.api.seed(type, { apiVersion: 'v1', kind: type.kind, metadata, data } as KubernetesObject);
}

async function remove(lab: PolicyLab, source: string): Promise<void> {
  const [kind = '', name = ''] = source.split('/');
  await lab.world.api.delete(KINDS[kind as keyof typeof KINDS], { namespace: 'default', name });
}

/** A change, and the time in which more of them could come. */
async function change(lab: PolicyLab, source: string, content: Content): Promise<void> {
  put(lab, source, content);
  await lab.rest();
  await lab.pass(DEBOUNCE_MS);
}

async function watching(
  policies: Record<string, string> = { 'restart-on': 'config' },
  shape: DeploymentShape = podShape(),
): Promise<PolicyLab> {
  return PolicyLab.rolledOut(policies, shape, {
    controller: WATCHING,
    prepare: (lab) => {
      put(lab, 'configmap/web', { data: { a: '1' } });
      put(lab, 'secret/key', { data: { key: 'c2VjcmV0' } });
    },
  });
}

function rollouts(lab: PolicyLab): number {
  return lab.world.replicaSets.length;
}

/** The oldest revision first. */
function revisions(lab: PolicyLab): ReplicaSet[] {
  const revisionOf = ({ metadata }: ReplicaSet): number =>
    Number(metadata.annotations?.['deployment.kubernetes.io/revision']);
  return lab.world.replicaSets.toSorted((a, b) => revisionOf(a) - revisionOf(b));
}

function sizes(lab: PolicyLab): (number | undefined)[] {
  return revisions(lab).map(({ spec }) => spec.replicas);
}

function causes(lab: PolicyLab): (string | undefined)[] {
  return revisions(lab).map(({ metadata }) => metadata.annotations?.['kubernetes.io/change-cause']);
}

describe('restart-on: config', () => {
  it('rolls the pods once when a content has changed, and says which keys did', async () => {
    const lab = await watching();
    await change(lab, 'configmap/web', { data: { a: '2', b: '1' } });
    expect(rollouts(lab)).toBe(2);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(causes(lab)).toEqual([
      undefined,
      'configuration changed: configmap/web: key a changed, key b added',
    ]);
    expect(lab.eventsOf('ConfigurationChanged')).toEqual([
      'Normal ConfigurationChanged Restarting its pods: configmap/web: key a changed, key b added',
    ]);
    await lab.pass(60_000);
    expect(rollouts(lab)).toBe(2);
  });

  it('records what is there first, and rolls nothing when the annotation comes, or comes again', async () => {
    const lab = await watching({});
    put(lab, 'configmap/web', { data: { a: '2' } });
    await lab.annotate('restart-on', 'config');
    await lab.pass(60_000);
    expect(rollouts(lab)).toBe(1);
    await lab.annotate('restart-on', undefined);
    expect(lab.annotation('config')).toBeUndefined();
    put(lab, 'configmap/web', { data: { a: '3' } });
    await lab.annotate('restart-on', 'config');
    await lab.pass(60_000);
    expect(rollouts(lab)).toBe(1);
  });

  it('makes one rollout of several changes within some seconds, and none of one that is taken back', async () => {
    const lab = await watching();
    for (const value of ['2', '3', '4']) {
      put(lab, 'configmap/web', { data: { a: value } });
      await lab.pass(DEBOUNCE_MS - 1000);
      put(lab, 'secret/key', { data: { key: value } });
      await lab.pass(0);
    }
    expect(rollouts(lab)).toBe(1);
    await lab.pass(DEBOUNCE_MS);
    expect(rollouts(lab)).toBe(2);
    put(lab, 'configmap/web', { data: { a: '5' } });
    await lab.pass(1000);
    put(lab, 'configmap/web', { data: { a: '4' } });
    await lab.pass(60_000);
    expect(rollouts(lab)).toBe(2);
  });

  it('does not wait for the end of changes that never end', async () => {
    const lab = await watching();
    for (let ms = 0; ms <= LONGEST_DEBOUNCE_MS; ms += 1000) {
      put(lab, 'configmap/web', { data: { a: `at ${ms}` } });
      await lab.pass(1000);
    }
    expect(rollouts(lab)).toBe(2);
  });

  it('asks for a look when the time for more changes is over', async () => {
    const lab = await watching();
    put(lab, 'configmap/web', { data: { a: '2' } });
    await lab.world.sync();
    await lab.world.sync();
    expect(lab.world.requeueAfterMs).toBe(DEBOUNCE_MS);
  });

  it('rolls nothing when only metadata change', async () => {
    const lab = await watching();
    await change(lab, 'configmap/web', { data: { a: '1' }, annotations: { note: 'new' } });
    await change(lab, 'secret/key', { data: { key: 'c2VjcmV0' }, annotations: { note: 'new' } });
    expect(rollouts(lab)).toBe(1);
  });

  it('counts an optional source that comes or goes as changed', async () => {
    const lab = await watching();
    await change(lab, 'configmap/extra', { data: { x: '1' } });
    expect(causes(lab).at(-1)).toBe('configuration changed: configmap/extra has come');
    await remove(lab, 'configmap/extra');
    await lab.rest();
    await lab.pass(DEBOUNCE_MS);
    expect(lab.eventsOf('ConfigurationChanged').at(-1)).toContain('configmap/extra is gone');
  });

  it('starts no pods that could not start, while a source that they need is missing', async () => {
    const lab = await watching();
    await remove(lab, 'configmap/web');
    put(lab, 'secret/key', { data: { key: 'other' } });
    await lab.pass(0);
    await lab.pass(60_000);
    expect(rollouts(lab)).toBe(1);
    put(lab, 'configmap/web', { data: { a: '1' } });
    await lab.pass(DEBOUNCE_MS);
    expect(causes(lab)).toEqual([undefined, 'configuration changed: secret/key changed']);
  });

  it('leaves alone what waited for a source that it needs, when that comes', async () => {
    const lab = await PolicyLab.rolledOut({ 'restart-on': 'config' }, podShape(), { controller: WATCHING });
    put(lab, 'configmap/web', { data: { a: '1' } });
    await lab.pass(0);
    put(lab, 'secret/key', { data: { key: '1' } });
    await lab.pass(60_000);
    expect(rollouts(lab)).toBe(1);
    await change(lab, 'secret/key', { data: { key: '2' } });
    expect(rollouts(lab)).toBe(2);
  });

  it('takes a Secret that was made again for changed, since digests cannot be compared across UIDs', async () => {
    const lab = await watching();
    await change(lab, 'secret/key', { data: { key: 'c2VjcmV0' }, uid: 'another' });
    expect(rollouts(lab)).toBe(2);
    await change(lab, 'configmap/web', { data: { a: '1' }, uid: 'another' });
    expect(rollouts(lab)).toBe(2);
  });

  it('lets a new version start with the configuration of then', async () => {
    const lab = await watching();
    put(lab, 'configmap/web', { data: { a: '2' } });
    await lab.image('app:2');
    await lab.pass(60_000);
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    expect(rollouts(lab)).toBe(2);
  });

  it('names no key of a Secret in any annotation or Event', async () => {
    const lab = await watching({ 'restart-on': 'config', history: '14d' });
    await change(lab, 'secret/key', { data: { SECRETNAME: '2', another: '3' } });
    await change(lab, 'secret/key', { data: { SECRETNAME: '4', another: '3' } });
    expect(rollouts(lab)).toBe(3);
    const shown = JSON.stringify([lab.deployment, lab.world.replicaSets, lab.world.events]);
    expect(shown).not.toMatch(/SECRETNAME|another/);
  });

  it('says nothing of the change after it in its change-cause', async () => {
    const lab = await watching({ 'restart-on': 'config' });
    await change(lab, 'configmap/web', { data: { a: '2' } });
    await lab.image('app:2');
    expect(causes(lab).at(-1)).toBeUndefined();
  });

  it('rests while the Deployment is paused, and rolls when it is resumed', async () => {
    const lab = await watching();
    lab.world.change(({ spec }) => void (spec.paused = true));
    await change(lab, 'configmap/web', { data: { a: '2' } });
    expect(rollouts(lab)).toBe(1);
    lab.world.change(({ spec }) => void (spec.paused = false));
    await lab.rest();
    await lab.pass(DEBOUNCE_MS);
    expect(rollouts(lab)).toBe(2);
  });
});

describe('a restart within the other policies', () => {
  it('begins at the first step', async () => {
    const lab = await watching({ 'restart-on': 'config', steps: '1; approve' });
    await change(lab, 'configmap/web', { data: { a: '2' } });
    expect(sizes(lab)).toEqual([9, 1]);
    await lab.annotate('approve', 'alice');
    expect(sizes(lab)).toEqual([0, 10]);
  });

  it('is held by a freeze, and starts with the configuration of its end', async () => {
    const lab = await watching({ 'restart-on': 'config' });
    await lab.annotate('freeze', 'inventory');
    await change(lab, 'configmap/web', { data: { a: '2' } });
    expect(lab.condition()).toContain('RolloutHeld');
    await change(lab, 'configmap/web', { data: { a: '3' } });
    expect(rollouts(lab)).toBe(1);
    await lab.annotate('freeze', undefined);
    await lab.pass(60_000);
    expect(rollouts(lab)).toBe(2);
  });

  it('is rolled back when it fails, and what is gone back to takes the configuration of now for its own', async () => {
    const lab = await watching({ 'restart-on': 'config', 'on-failure': 'rollback', 'fail-after': '1m' });
    const [first] = lab.world.replicaSets;
    lab.world.breaks = () => true;
    await change(lab, 'configmap/web', { data: { a: 'broken' } });
    await lab.pass(61_000);
    expect(lab.condition()).toMatch(/RolledBack|ReplicaSetUpdated/);
    expect(lab.deployment.spec.template.metadata?.annotations).toBeUndefined();
    lab.world.breaks = () => false;
    await lab.rest();
    expect(lab.condition()).toMatch(/^False RolledBack .* still have the content that was refused, and pods/);
    for (let i = 0; i < 5; i++) await lab.pass(60_000);
    expect(rollouts(lab), 'no loop').toBe(2);
    const [good] = lab.world.replicaSets.filter(({ metadata }) => metadata.name === first?.metadata.name);
    expect(good?.spec.replicas).toBe(10);
    await change(lab, 'configmap/web', { data: { a: 'mended' } });
    expect(rollouts(lab)).toBe(3);
    expect(lab.deployment.spec.template.metadata?.annotations?.[`${P}config-digest`]).toMatch(
      /^[0-9a-f]{16}$/,
    );
  });

  it('does not flip-flop after an undo, and makes another template of a digest that the template had before', async () => {
    const lab = await watching();
    await change(lab, 'configmap/web', { data: { a: '2' } });
    const second = structuredClone(lab.deployment.spec.template);
    await change(lab, 'configmap/web', { data: { a: '3' } });
    expect(rollouts(lab)).toBe(3);
    lab.world.change(({ spec }) => void (spec.template = second));
    await lab.rest();
    for (let i = 0; i < 3; i++) await lab.pass(60_000);
    expect(rollouts(lab)).toBe(3);
    const digest = second.metadata?.annotations?.[`${P}config-digest`] ?? '';
    await change(lab, 'configmap/web', { data: { a: '2' } });
    expect(rollouts(lab)).toBe(4);
    expect(lab.deployment.spec.template.metadata?.annotations?.[`${P}config-digest`]).toBe(`${digest}-2`);
  });

  it('keeps its limits when the image changes in its middle', async () => {
    const lab = await watching({ 'restart-on': 'config', steps: '2; approve' });
    await change(lab, 'configmap/web', { data: { a: '2' } });
    put(lab, 'configmap/web', { data: { a: '3' } });
    lab.world.change((deployment) => setImage(deployment, 'app:2'));
    await lab.rest();
    await lab.pass(60_000);
    expect(lab.sizes).toEqual({ 'app:1': 8, 'app:2': 2 });
  });
});

describe('the selection of sources', () => {
  const named = async (annotations: Record<string, string>): Promise<PolicyLab> =>
    watching({}, { ...podShape(), annotations });

  it('are those that are named, whether the template refers to them or not', async () => {
    const lab = await watching({ 'restart-on': 'configmap/other, secret/key' });
    await change(lab, 'configmap/web', { data: { a: '2' } });
    expect(rollouts(lab)).toBe(1);
    await change(lab, 'configmap/other', { data: { a: '2' } });
    expect(causes(lab).at(-1)).toContain('configmap/other has come');
    await change(lab, 'secret/key', { data: { key: 'x' } });
    expect(rollouts(lab)).toBe(3);
  });

  it.each([
    ['reloader.stakater.com/auto', 'true', ['configmap/web', 'secret/key']],
    ['reloader.stakater.com/auto', 'false', []],
    ['configmap.reloader.stakater.com/auto', 'true', ['configmap/web']],
    ['secret.reloader.stakater.com/auto', 'true', ['secret/key']],
    ['configmap.reloader.stakater.com/reload', 'other,web', ['configmap/web', 'configmap/other']],
    ['secret.reloader.stakater.com/reload', 'key', ['secret/key']],
    ['reloader.stakater.com/search', 'true', []],
  ])("are those of Reloader's %s: %s", async (annotation, value, expected) => {
    const restartedOn: string[] = [];
    for (const source of ['configmap/web', 'secret/key', 'configmap/other']) {
      const lab = await named({ [annotation]: value });
      await change(lab, source, { data: { a: 'new' } });
      if (rollouts(lab) > 1) restartedOn.push(source);
    }
    expect(restartedOn.sort()).toEqual([...expected].sort());
  });

  it('are for search those that are marked, from the mark on', async () => {
    const lab = await named({ 'reloader.stakater.com/search': 'true' });
    const annotations = { 'reloader.stakater.com/match': 'true' };
    await change(lab, 'configmap/web', { data: { a: '2' }, annotations });
    expect(rollouts(lab)).toBe(1);
    await change(lab, 'configmap/web', { data: { a: '3' }, annotations });
    expect(rollouts(lab)).toBe(2);
  });

  it('are not those that are excluded, or are to be ignored', async () => {
    const lab = await named({
      'reloader.stakater.com/auto': 'true',
      'configmaps.exclude.reloader.stakater.com/reload': 'web',
    });
    await change(lab, 'configmap/web', { data: { a: '2' } });
    await change(lab, 'secret/key', {
      data: { key: 'x' },
      annotations: { 'reloader.stakater.com/ignore': 'true' },
    });
    expect(rollouts(lab)).toBe(1);
  });

  it('are none where a name of Reloader is a pattern, which is said', async () => {
    const lab = await named({ 'configmap.reloader.stakater.com/reload': 'web-.*' });
    expect(lab.condition('RolloutPolicy')).toMatch(/^False InvalidAnnotation .*"web-\.\*"/);
  });

  it('are none where there are more than can be kept, which is said', async () => {
    const envFrom = Array.from({ length: 101 }, (_, i) => ({
      configMapRef: { name: `c${i}`, optional: true },
    }));
    const spec: PodSpec = { containers: [{ name: 'web', image: 'app:1', envFrom }] };
    const lab = await watching({ 'restart-on': 'config' }, podShape(spec));
    expect(lab.condition('RolloutPolicy')).toMatch(/^False ConfigurationNotWatched .*101/);
    expect(lab.annotation('config')).toBeUndefined();
  });
});

describe('a controller that does not watch configuration', () => {
  it('says so where restart-on is given, and follows the other policies', async () => {
    const lab = await PolicyLab.rolledOut({ 'restart-on': 'config', steps: '1; approve' }, podShape());
    expect(lab.condition('RolloutPolicy')).toMatch(/^False ConfigurationNotWatched .*--restart-on-config/);
    expect(lab.eventsOf('ConfigurationNotWatched')).toHaveLength(1);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
    await lab.annotate('restart-on', undefined);
    expect(lab.condition('RolloutPolicy')).toBe('none');
  });

  it('leaves the annotations of Reloader to a Reloader', async () => {
    const annotations = { 'reloader.stakater.com/auto': 'true' };
    const lab = await PolicyLab.rolledOut({}, { ...podShape(), annotations });
    expect(lab.condition('RolloutPolicy')).toBe('none');
  });
});

describe('the content of a Secret', () => {
  it('is in nothing that is written or reported', async () => {
    const lab = await watching();
    await change(lab, 'secret/key', { data: { key: 'bm90IHRvIGJlIHNlZW4=' } });
    expect(causes(lab).at(-1)).toContain('secret/key changed');
    const seen = JSON.stringify([lab.deployment, lab.world.replicaSets, lab.world.allPods, lab.world.events]);
    expect(seen).not.toContain('c2VjcmV0');
    expect(seen).not.toContain('bm90IHRvIGJlIHNlZW4=');
  });
});

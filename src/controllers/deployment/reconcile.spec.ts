import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../machinery/clock/index.js';
import type { AttemptedWrite } from '../../testing/in-memory/in-memory-api.js';
import { ApiStatusError } from '../../client/api-client/api-status-error.js';
import { ReplicaSet } from '../../machinery/kubernetes/index.js';
import type { DeploymentShape } from '../../testing/deployment-builder.js';
import { aDeployment, setImage } from '../../testing/deployment-builder.js';
import { BROKEN_IMAGE, RolloutWorld, refusal } from '../../testing/rollout-world.js';
import { REVISION } from './kubernetes/annotations.js';

interface Lab {
  readonly world: RolloutWorld;
  /** Writes since the last call, as `verb kind size` or `verb kind subresource`. */
  readonly newWrites: () => string[];
}

/** @param onWrite if it throws, that is the API's answer */
async function rolledOut(
  shape: DeploymentShape = {},
  onWrite: (write: AttemptedWrite) => void = () => undefined,
): Promise<Lab> {
  const writes: string[] = [];
  const world = new RolloutWorld({
    deployment: aDeployment(shape),
    random: new SeededRandom(1),
    onWrite: (write) => {
      onWrite(write);
      writes.push(describeWrite(write));
    },
  });
  await waves(world, 4);
  const newWrites = (): string[] => writes.splice(0);
  newWrites();
  return { world, newWrites };
}

async function waves(world: RolloutWorld, count: number): Promise<void> {
  for (let wave = 0; wave < count; wave++) {
    await world.sync();
    await world.settle();
  }
}

function describeWrite({ verb, type, subresource, object }: AttemptedWrite): string {
  const size = type === ReplicaSet ? (object as ReplicaSet | undefined)?.spec.replicas : subresource;
  return [verb, type.kind, size].filter((part) => part !== undefined).join(' ');
}

function sizes(world: RolloutWorld): Record<string, number | undefined> {
  return Object.fromEntries(
    world.replicaSets.map(({ spec }) => [spec.template?.spec?.containers[0]?.image, spec.replicas]),
  );
}

function condition(world: RolloutWorld, type: string): string | undefined {
  return world.deployment.status?.conditions?.find((found) => found.type === type)?.reason;
}

describe('a rolling update of 10 pods at 25 %/25 %', () => {
  it('goes to 3 new, 8 old and 5 new in one pass, and reports each size', async () => {
    const { world, newWrites } = await rolledOut();
    world.change((deployment) => setImage(deployment, 'app:2'));
    await world.sync();
    expect(sizes(world)).toEqual({ 'app:1': 8, 'app:2': 5 });
    expect(newWrites()).toEqual([
      'create ReplicaSet 3',
      'update ReplicaSet 8',
      'update ReplicaSet 5',
      'update Deployment status',
    ]);
    const named = (image: string): string | undefined =>
      world.replicaSets.find(({ spec }) => spec.template?.spec?.containers[0]?.image === image)?.metadata
        .name;
    const [old, latest] = [named('app:1'), named('app:2')];
    expect(world.events.slice(-3)).toEqual([
      `Normal ScalingReplicaSet Scaled up replica set ${latest} from 0 to 3`,
      `Normal ScalingReplicaSet Scaled down replica set ${old} from 10 to 8`,
      `Normal ScalingReplicaSet Scaled up replica set ${latest} from 3 to 5`,
    ]);
    expect(world.deployment.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '2' });
  });

  it('takes at most 15 writes by the controller and ends complete', async () => {
    const { world, newWrites } = await rolledOut();
    world.change((deployment) => setImage(deployment, 'app:2'));
    await waves(world, 6);
    expect(sizes(world)).toEqual({ 'app:1': 0, 'app:2': 10 });
    expect(condition(world, 'Progressing')).toBe('NewReplicaSetAvailable');
    expect(newWrites().length).toBeLessThanOrEqual(15);
  });

  it('writes nothing when there is nothing to do', async () => {
    const { world, newWrites } = await rolledOut();
    await world.sync();
    expect(newWrites()).toEqual([]);
  });

  it('stops at its limits when the new pods never become ready', async () => {
    const { world } = await rolledOut();
    world.change((deployment) => setImage(deployment, BROKEN_IMAGE));
    await waves(world, 6);
    expect(sizes(world)).toEqual({ 'app:1': 8, [BROKEN_IMAGE]: 5 });
    expect(condition(world, 'Available')).toBe('MinimumReplicasAvailable');
  });

  it('gives no more room for new ones when taking the old ones down is refused', async () => {
    let refused = false;
    const world = new RolloutWorld({
      deployment: aDeployment(),
      random: new SeededRandom(1),
      onWrite: ({ verb, type }) => {
        if (refused && verb === 'update' && type === ReplicaSet) throw refusal(409);
      },
    });
    await waves(world, 3);
    refused = true;
    world.change((deployment) => setImage(deployment, 'app:2'));
    await expect(world.sync()).rejects.toThrow(ApiStatusError);
    expect(sizes(world)).toEqual({ 'app:1': 10, 'app:2': 3 });
  });
});

describe('pause, scale and rollback', () => {
  it('changes no template while paused, and scales all the same', async () => {
    const { world } = await rolledOut();
    world.change((deployment) => {
      deployment.spec.paused = true;
      deployment.spec.replicas = 4;
      setImage(deployment, 'app:2');
    });
    await world.sync();
    expect(sizes(world)).toEqual({ 'app:1': 4 });
    expect(condition(world, 'Progressing')).toBe('DeploymentPaused');
  });

  it('goes on with a rollout that broke off at the very size that is asked for next', async () => {
    let refused = false;
    let updates = 0;
    const { world } = await rolledOut({}, ({ verb, type }) => {
      if (refused && verb === 'update' && type === ReplicaSet && ++updates > 1) throw refusal(500);
    });
    refused = true;
    world.change((deployment) => setImage(deployment, 'app:2'));
    await expect(world.sync()).rejects.toThrow(ApiStatusError);
    refused = false;
    expect(sizes(world)).toEqual({ 'app:1': 8, 'app:2': 3 });
    world.change(({ spec }) => void (spec.replicas = 8));
    await waves(world, 6);
    expect(sizes(world)).toEqual({ 'app:1': 0, 'app:2': 8 });
  });

  it('goes on when it becomes a Recreate and is scaled in the middle of a rollout', async () => {
    const { world } = await rolledOut();
    world.change((deployment) => setImage(deployment, BROKEN_IMAGE));
    await waves(world, 2);
    expect(sizes(world)).toEqual({ 'app:1': 8, [BROKEN_IMAGE]: 5 });
    world.change((deployment) => {
      Object.assign(deployment.spec, { strategy: { type: 'Recreate' }, replicas: 4 });
      setImage(deployment, 'app:3');
    });
    await waves(world, 6);
    expect(sizes(world)).toEqual({ 'app:1': 0, [BROKEN_IMAGE]: 0, 'app:3': 4 });
  });

  it('rolls back to the previous revision on request and takes the request away', async () => {
    const { world } = await rolledOut();
    world.change((deployment) => setImage(deployment, 'app:2'));
    await waves(world, 6);
    world.change(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'deprecated.deployment.rollback.to': '0' };
    });
    await waves(world, 8);
    expect(sizes(world)).toEqual({ 'app:1': 10, 'app:2': 0 });
    expect(world.deployment.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '3' });
    expect(world.deployment.status?.observedGeneration).toBe(world.deployment.metadata.generation);
    expect(world.events).toContain('Normal DeploymentRollback Rolled back deployment "web" to revision 1');
  });

  it('keeps as many old ReplicaSets as revisionHistoryLimit says', async () => {
    const { world } = await rolledOut({ replicas: 2, spec: { revisionHistoryLimit: 1 } });
    for (const image of ['app:2', 'app:3', 'app:4']) {
      world.change((deployment) => setImage(deployment, image));
      for (let wave = 0; wave < 8; wave++) {
        await world.sync();
        await world.settle();
      }
    }
    expect(sizes(world)).toEqual({ 'app:3': 0, 'app:4': 2 });
  });

  it.each(['RollingUpdate', 'Recreate'] as const)(
    'keeps the one that served last when it is a %s, however long ago it was created',
    async (type) => {
      const spec = { revisionHistoryLimit: 1 };
      const { world } = await rolledOut({ replicas: 2, strategy: { type }, spec });
      // 1 works, 2 does not: back to 1, which becomes revision 3, and on to 3.
      await rollThrough(world, ['app:2', 'app:1', 'app:3']);
      expect(sizes(world)).toEqual({ 'app:1': 0, 'app:3': 2 });
    },
  );
});

async function rollThrough(world: RolloutWorld, images: readonly string[]): Promise<void> {
  for (const image of images) {
    world.change((deployment) => setImage(deployment, image));
    await waves(world, 8);
  }
}

describe('a ReplicaSet that comes with a revision', () => {
  /** Rolls out, then gives the ReplicaSet that revision, as an earlier controller may have. */
  async function withRevision(revision: string): Promise<RolloutWorld> {
    const { world } = await rolledOut({ replicas: 2 });
    const [replicaSet] = world.replicaSets;
    world.api.seed(ReplicaSet, {
      ...replicaSet!,
      metadata: { ...replicaSet!.metadata, annotations: { [REVISION]: revision } },
    });
    return world;
  }

  it('makes the next revision one more, also if no double holds it', async () => {
    const world = await withRevision('3546343826724305832');
    await rollThrough(world, ['app:2']);
    expect(world.deployment.metadata.annotations?.[REVISION]).toBe('3546343826724305833');
    await rollThrough(world, ['app:3']);
    expect(world.deployment.metadata.annotations?.[REVISION]).toBe('3546343826724305834');
  });

  it.each(['9999999999999999999', '9223372036854775807', 'mine'])(
    'leaves those of the others as they would be without it, if it is %s',
    async (revision) => {
      const world = await withRevision(revision);
      const seen: (string | undefined)[] = [];
      for (const image of ['app:2', 'app:3', 'app:4']) {
        await rollThrough(world, [image]);
        seen.push(world.deployment.metadata.annotations?.[REVISION]);
      }
      expect(seen).toEqual(['1', '2', '3']);
      expect(world.replicaSets.map(({ metadata }) => metadata.annotations?.[REVISION])).toContain(revision);
    },
  );

  it('is found by a rollback to it, and told from its neighbour, also if no double holds it', async () => {
    const world = await withRevision('9007199254740993');
    await rollThrough(world, ['app:2', 'app:3']);
    world.change(({ metadata }) => {
      metadata.annotations = {
        ...metadata.annotations,
        'deprecated.deployment.rollback.to': '9007199254740993',
      };
    });
    await waves(world, 8);
    expect(sizes(world)).toMatchObject({ 'app:1': 2 });
    expect(world.deployment.metadata.annotations?.[REVISION]).toBe('9007199254740996');
  });
});

describe('a Recreate', () => {
  it('creates the new ReplicaSet only when the last old pod is gone', async () => {
    const { world } = await rolledOut({ replicas: 3, strategy: { type: 'Recreate' } });
    world.change((deployment) => setImage(deployment, 'app:2'));
    await world.sync();
    expect(sizes(world)).toEqual({ 'app:1': 0 });
    for (let round = 0; round < 2; round++) {
      for (const replicaSet of world.replicaSets) await world.syncReplicaSet(replicaSet);
    }
    await world.sync();
    expect(sizes(world), 'three pods are terminating').toEqual({ 'app:1': 0 });
    for (const pod of world.allPods) await world.stopPod(pod);
    await world.sync();
    expect(sizes(world)).toEqual({ 'app:1': 0, 'app:2': 3 });
  });
});

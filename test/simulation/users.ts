import type { ApiClient } from '../../src/client/api-client/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import { MutatingWebhookConfiguration } from '../../src/runtime/index.js';
import { hostOfEdit } from '../chaos/checkers/led-route.js';
import { HTTPRoute } from '../chaos/led-routes.js';
import type { AcknowledgedChange, Wish } from '../chaos/acknowledged-changes.js';
import { AcknowledgedChanges } from '../chaos/acknowledged-changes.js';
import { FIRST_MESH, MESHED, MESH_NAME, meshPatch, nextMesh } from '../chaos/mesh.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { MESH_ORIGIN } from './cluster.js';
import type { PlannedAct } from './plan.js';
import { cannotBecomeReady, imageWith, shapeOf } from './shapes.js';

const P = 'rollkeeper.dev/';

/** The parts of a world that act by themselves. */
interface Surroundings {
  /** Ends a pod's containers. */
  readonly failPod: (pod: Pod) => void;
  /** No gateway serves changes of routes for so long, milliseconds. */
  readonly takeGateway: (ms: number) => void;
  /** No webhook of the mesh answers for so long, milliseconds. */
  readonly takeMesh: (ms: number) => void;
  /** The namespace of a Deployment. */
  readonly namespaceOf: (name: string) => string;
}

/** The longest times without a gateway, and without a mesh, milliseconds. */
const GATEWAY_AWAY_MS = 20_000;
const MESH_AWAY_MS = 8000;

/** The users of a world: they change Deployments as planned, one change of a name at a time, and know what was confirmed. */
export class Users {
  private readonly changes: AcknowledgedChanges;
  private readonly busy = new Set<string>();
  private serial = 0;
  private edits = 0;
  private mesh = FIRST_MESH;
  /** UIDs of the pods that they have asked to delete. */
  readonly deletedPods = new Set<string>();
  /** The names whose rollouts nothing holds any more. */
  private readonly released = new Set<string>();

  constructor(
    private readonly client: ApiClient,
    private readonly surroundings: Surroundings,
  ) {
    this.changes = new AcknowledgedChanges(client, surroundings.namespaceOf);
  }

  get counts(): AcknowledgedChanges['counts'] {
    return this.changes.counts;
  }

  /** The last confirmed change of each name. */
  last(): Iterable<AcknowledgedChange> {
    return this.changes.last();
  }

  /** Never rejects. Does nothing while another change of the name is under way. */
  async act(planned: PlannedAct): Promise<void> {
    const { name } = planned;
    if (this.busy.has(name)) return;
    this.busy.add(name);
    try {
      await this.change(planned);
    } catch {
      // An act does without reads that fail.
    } finally {
      this.busy.delete(name);
    }
  }

  /** Whether the last changes of all names are known, and let their rollouts end. To be called again until they do. */
  async settle(): Promise<boolean> {
    if (this.busy.size > 0) return false;
    let isSettled = true;
    for (const { isUncertain: wasUncertain, name } of this.changes.last()) {
      if (wasUncertain) await this.changes.lookAgain(name);
      const { isUncertain, wish } = this.changes.lastOf(name)!;
      if (isUncertain) isSettled = false;
      else if (wish && (wish.paused || cannotBecomeReady(imageOf(wish)) || this.isHeld(name))) {
        isSettled = false;
        await this.changes.patch(name, 'settle', {
          ...(shapeOf(name).holds === true && { metadata: { annotations: { [`${P}steps`]: null } } }),
          spec: { paused: false, template: templateWith(this.nextImage()) },
        });
        if (this.changes.lastOf(name)?.isUncertain === false) this.released.add(name);
      }
    }
    return isSettled;
  }

  private isHeld(name: string): boolean {
    return shapeOf(name).holds === true && !this.released.has(name);
  }

  private async change({ act, dice: [first, second], name }: PlannedAct): Promise<void> {
    if (this.changes.lastOf(name)?.isUncertain) await this.changes.lookAgain(name);
    const known = this.changes.lastOf(name);
    if (known?.isUncertain) return;
    const shape = shapeOf(name);
    const { mostReplicas } = shape;
    if (act === 'the gateway leaves') return this.surroundings.takeGateway(GATEWAY_AWAY_MS * first ** 2);
    if (act === 'edit the route') return this.editRoute(name);
    if (act === 'the mesh leaves') return this.surroundings.takeMesh(MESH_AWAY_MS * first ** 2);
    if (act === 'upgrade the mesh') return this.upgradeMesh(first, second);
    if (!known?.wish) return act === 'create or update' ? this.create(name, first) : undefined;
    switch (act) {
      case 'create or update': {
        const image = imageWith(this.nextImage(), shape, second);
        return this.changes.patch(name, 'update', { spec: { template: templateWith(image) } });
      }
      case 'scale':
        return this.changes.patch(name, act, { spec: { replicas: Math.floor(first * (mostReplicas + 1)) } });
      case 'pause or resume':
        return this.changes.patch(name, act, { spec: { paused: !known.wish.paused } });
      case 'approve':
        return this.changes.patch(name, act, { metadata: { annotations: { [`${P}approve`]: 'a user' } } });
      case 'undo':
        return this.changes.undo(name);
      case 'delete':
        return this.changes.delete(name);
      case 'delete a pod':
      case 'fail a pod': {
        const pod = await this.aPodOf(name, first);
        const { namespace } = this.changes.refOf(name);
        if (pod) this.deletedPods.add(pod.metadata.uid ?? '');
        if (pod && act === 'fail a pod') this.surroundings.failPod(pod);
        else if (pod) await this.client.delete(Pod, { namespace, name: pod.metadata.name });
      }
    }
  }

  private create(name: string, chance: number): Promise<void> {
    const { meshed = false, minReadySeconds, mostReplicas, need, policies, strategy } = shapeOf(name);
    const replicas = 1 + Math.floor(chance * mostReplicas);
    const of = { ...this.changes.refOf(name), image: this.nextImage() };
    const object = aDeployment({ ...of, replicas, strategy, minReadySeconds });
    object.metadata.annotations = {
      ...policies,
      ...(policies?.[`${P}strategy`] === 'blue-green' && { [`${P}active-service`]: name }),
      ...(need === 'route' && { [`${P}traffic`]: `httproute/${name}` }),
    };
    const { metadata } = object.spec.template;
    if (meshed) object.spec.template.metadata = { ...metadata, labels: { ...metadata?.labels, ...MESHED } };
    return this.changes.create(name, object);
  }

  /** After this, new pods get other sidecars. */
  private async upgradeMesh(what: number, more: number): Promise<void> {
    this.mesh = nextMesh(this.mesh, what, more);
    const patch = { type: 'json', body: meshPatch(this.mesh, MESH_ORIGIN) } as const;
    await this.client.patch(MutatingWebhookConfiguration, { name: MESH_NAME }, patch);
  }

  /** Changes a part of the route that no rollout may change. */
  private async editRoute(name: string): Promise<void> {
    if (shapeOf(name).need !== 'route') return;
    this.edits += 1;
    const body = { spec: { hostnames: [hostOfEdit(this.edits)] } };
    await this.client.patch(HTTPRoute, this.changes.refOf(name), { type: 'merge', body });
  }

  private async aPodOf(name: string, chance: number): Promise<Pod | undefined> {
    const { items } = await this.client.list<Pod>(Pod, {
      namespace: this.surroundings.namespaceOf(name),
      labelSelector: `app=${name}`,
    });
    return items[Math.floor(chance * items.length)];
  }

  private nextImage(): string {
    this.serial += 1;
    return `web:${this.serial}`;
  }
}

function templateWith(image: string): object {
  return { spec: { containers: [{ name: 'web', image }] } };
}

function imageOf({ template }: Wish): string {
  return template.spec?.containers[0]?.image ?? '';
}

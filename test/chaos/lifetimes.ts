import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../../src/client/api-client/index.js';
import { Deployment, Pod } from '../../src/machinery/kubernetes/index.js';
import { MutatingWebhookConfiguration } from '../../src/runtime/index.js';
import type { WebhookServer } from '../integration/support/webhook-server.js';
import { startWebhookServer } from '../integration/support/webhook-server.js';
import type { KnownMesh } from './checkers/admission.js';
import { unrestOfAdmission } from './checkers/admission.js';
import type { HistoryEvent } from './history.js';
import type { Mesh } from './mesh.js';
import {
  FIRST_MESH,
  MESH_NAME,
  SESSIONS,
  meshAnswer,
  meshConfiguration,
  meshOf,
  meshPatch,
  nextMesh,
} from './mesh.js';
import { inEach } from './namespaces.js';
import type { SeededRandom } from './random.js';

const DRAINING = 'rollkeeper.dev/draining';
const LOOKS_EVERY_MS = 200;
/** Sessions of a pod that drains last so long at most, milliseconds. */
const LONGEST_MS = 15_000;
/** From one upgrade of the mesh to the next, milliseconds: few, as a Deployment is restarted three times a day at most. */
const UPGRADES_EVERY_MS = 25_000;

/** Whether a pod says that it has no session. */
export function saysItIsEmpty({ metadata }: Pod): boolean {
  return metadata.annotations?.[SESSIONS] === '0';
}

interface Draining {
  readonly namespace: string;
  readonly name: string;
  readonly atMs: number;
}

/** Applications whose old pods become empty after a while, and a mesh whose webhook injects other sidecars from time to time. */
export class Lifetimes {
  private readonly ends = new Map<string, Draining>();
  private readonly meshes: KnownMesh[] = [];
  private mesh = FIRST_MESH;
  private server: WebhookServer | undefined;
  private running: Promise<void> = Promise.resolve();
  private upgradeAtMs = Infinity;
  private stopping = false;

  constructor(
    private readonly client: ApiClient,
    private readonly namespaces: readonly string[],
    private readonly random: SeededRandom,
  ) {}

  /** Give it every change of the history. */
  note({ deleted, kind, object, seenAtMs }: HistoryEvent): void {
    if (kind !== 'Pod') return;
    const { labels, name, namespace = '', uid = '' } = object.metadata;
    if (deleted || saysItIsEmpty(object as Pod)) this.ends.delete(uid);
    else if (labels?.[DRAINING] !== undefined && !this.ends.has(uid))
      this.ends.set(uid, { namespace, name, atMs: seenAtMs + LONGEST_MS * this.random.next() ** 2 });
  }

  async start(): Promise<void> {
    this.server = await startWebhookServer([], (review, path) => {
      const own = String(Math.floor(this.random.next() * 1e9));
      return { text: JSON.stringify(meshAnswer(review, meshOf(path) ?? FIRST_MESH, own)) };
    });
    const { caBundle } = this.server;
    const configuration = meshConfiguration(this.mesh, { origin: this.origin, caBundle });
    await this.client.create(MutatingWebhookConfiguration, configuration);
    this.meshes.push({ mesh: this.mesh, sinceMs: performance.now() });
    this.running = this.run();
  }

  /** The mesh may be upgraded from now on. */
  begin(): void {
    this.upgradeAtMs = performance.now() + UPGRADES_EVERY_MS * this.random.next();
  }

  /** It is upgraded no more, and all sessions end. */
  end(): void {
    this.upgradeAtMs = Infinity;
    for (const [uid, pod] of this.ends) this.ends.set(uid, { ...pod, atMs: 0 });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
    await this.server?.stop();
  }

  /** The sidecars that admission gave, since the last call. */
  take(): readonly KnownMesh[] {
    return this.meshes.splice(0);
  }

  /** Pods that still drain, and those with other sidecars than new ones where nothing says or bars that. */
  findUnrest(): Promise<string[]> {
    return inEach(this.namespaces, (namespace) => this.unrestIn(namespace));
  }

  private async unrestIn(namespace: string): Promise<string[]> {
    const { client } = this;
    const [pods, deployments] = await Promise.all([
      client.list<Pod>(Pod, { namespace }),
      client.list<Deployment>(Deployment, { namespace }),
    ]);
    const drain = pods.items.filter(({ metadata }) => metadata.labels?.[DRAINING] !== undefined);
    if (this.upgradeAtMs === Infinity)
      for (const { metadata } of drain)
        this.ends.set(metadata.uid ?? '', { namespace, name: metadata.name, atMs: 0 });
    return [
      ...drain.map(({ metadata }) => `pod ${metadata.name} drains`),
      ...unrestOfAdmission(deployments.items, pods.items, this.mesh),
    ];
  }

  private get origin(): string {
    return `https://${this.server?.address}`;
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      const nowMs = performance.now();
      for (const [uid, pod] of [...this.ends])
        if (pod.atMs <= nowMs) await this.say(uid, pod).catch(() => undefined);
      if (nowMs >= this.upgradeAtMs) await this.upgrade();
      await pause(LOOKS_EVERY_MS);
    }
  }

  private async say(uid: string, { name, namespace }: Draining): Promise<void> {
    const body = { metadata: { uid, annotations: { [SESSIONS]: '0' } } };
    await this.client.patch(Pod, { namespace, name }, { type: 'merge', body });
    this.ends.delete(uid);
  }

  /** An upgrade whose answer is lost is made again, so that it is known. */
  private async upgrade(): Promise<void> {
    this.upgradeAtMs = performance.now() + UPGRADES_EVERY_MS * (0.5 + this.random.next());
    const next: Mesh = nextMesh(this.mesh, this.random.next(), this.random.next());
    const patch = { type: 'json', body: meshPatch(next, this.origin) } as const;
    const sinceMs = performance.now();
    for (;;) {
      try {
        await this.client.patch(MutatingWebhookConfiguration, { name: MESH_NAME }, patch);
        break;
      } catch {
        await pause(LOOKS_EVERY_MS);
      }
    }
    this.mesh = next;
    this.meshes.push({ mesh: next, sinceMs });
  }
}

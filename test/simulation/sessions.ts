import type { Pod } from '../../src/machinery/kubernetes/index.js';
import { stringifyJson } from '../../src/machinery/kubernetes/index.js';
import { SESSIONS } from '../chaos/mesh.js';
import type { SimulatedApi, SimulatedProcess, StoredChange } from '../../src/testing/simulation/index.js';

const DRAINING = 'rollkeeper.dev/draining';
const NOTE = 'rollkeeper.dev/drain';
/** The sessions of a pod that drains end within this time, milliseconds: most of them early. */
const LONGEST_MS = 25_000;
/** The share of pods whose sessions outlast the faults. */
const LASTING = 0.3;
const RETRY_MS = 500;

/** The sessions of all pods: those of one that drains end after a while, or once the world says so. */
export class SimulatedSessions {
  private readonly stopper = new AbortController();
  private readonly pods = new Map<string, Pod>();
  private readonly addresses = new Map<string, string>();
  private readonly empty = new Set<string>();
  /** Whether the sessions of pods that drain from now on end after a while by chance, last, or are over. */
  private mode: 'by chance' | 'lasting' | 'over' = 'by chance';

  constructor(
    private readonly process: SimulatedProcess,
    private readonly api: SimulatedApi,
  ) {}

  /** Follows a change of the store. */
  see({ deleted, object, resource }: StoredChange): void {
    if (resource !== 'pods') return;
    const pod = object as Pod;
    const { labels, uid = '' } = pod.metadata;
    const address = pod.status?.podIP;
    if (address !== undefined) this.addresses.set(address, uid);
    if (deleted || labels?.[DRAINING] === undefined || this.pods.has(uid)) return;
    this.pods.set(uid, pod);
    const { random } = this.process;
    const [takes, lasts] = [LONGEST_MS * random.next() ** 2, random.next() < LASTING];
    if (this.mode === 'over' || (this.mode === 'by chance' && !lasts))
      this.process.after(takes, () => this.end(uid));
  }

  /** No session of a pod that drains from now on ends by itself. */
  holdAll(): void {
    this.mode = 'lasting';
  }

  /** Ends all sessions, now and from now on: no drain lasts any more but by its limit. */
  endAll(): void {
    this.mode = 'over';
    for (const uid of this.pods.keys()) this.end(uid);
  }

  isEmpty({ metadata }: Pod): boolean {
    return this.empty.has(metadata.uid ?? '');
  }

  /** The body of the answer to a request at a URL with the address of a pod; undefined if there is no such pod. */
  answer(url: string): string | undefined {
    const { hostname, pathname } = new URL(url);
    const uid = this.addresses.get(hostname);
    if (uid === undefined) return undefined;
    const count = this.empty.has(uid) ? 0 : 3;
    if (pathname === '/metrics')
      return `# TYPE sessions gauge\nsessions{kind="a"} ${count}\nsessions{kind="b"} 0\n`;
    return pathname === '/stats' ? stringifyJson({ open: { sessions: count } }) : String(count);
  }

  private end(uid: string): void {
    const pod = this.pods.get(uid);
    if (!pod || this.empty.has(uid)) return;
    this.empty.add(uid);
    if (pod.metadata.annotations?.[NOTE]?.includes(SESSIONS)) void this.annotate(pod);
  }

  private async annotate(pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const url = `/api/v1/namespaces/${namespace}/pods/${name}`;
    const { status } = await this.api.answer({
      ...{ method: 'PATCH', url, headers: { 'content-type': 'application/merge-patch+json' } },
      body: stringifyJson({ metadata: { uid, annotations: { [SESSIONS]: '0' } } }),
      signal: this.stopper.signal,
    });
    this.process.kernel.note(this.process.name, this.process.name, `PATCH ${url} ${status}`);
    if (status === 409 || status === 429 || status >= 500)
      this.process.after(RETRY_MS, () => void this.annotate(pod));
  }
}

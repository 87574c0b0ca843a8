import { TimeoutError } from '@rollkeeper/machinery/errors';
import { startTestCluster } from '../../../src/testing/cluster/start-test-cluster.js';
import type { TestCluster } from '../../../src/testing/cluster/test-cluster.js';
import { isJsonObject } from '../conformance-format.js';
import type { ConformanceFormat, JsonObject, RecordedCase } from '../conformance-format.js';
import type { CommandOutcome } from './kubectl-shell.js';
import { KubectlShell } from './kubectl-shell.js';
import { RECORDED_FILES, RECORDED_NAMESPACE, RECORDED_SURROUNDINGS } from './recorded-files.js';
import { shownText } from './shown-text.js';

/** Recorded commands that print something else here, with the reason. docs/API.md has the same list, and a test compares the two. */
export const DELIBERATE_DIFFERENCES: Readonly<Record<string, string>> = Object.freeze({
  'kubectl patch deployment web --subresource=scale --type=merge -p \'{"spec":{"replicas":1}}\'':
    'a controller of the recorded cluster wrote the Deployment between the two requests of the command',
  'kubectl describe deploy web':
    'which of more than ten similar events are combined is a matter of chance in a genuine recorder',
  'kubectl get leases -A -o name | head -1 | cut -d/ -f1':
    'API servers and controllers keep no Leases, and there are no nodes',
  'kubectl delete all --all --wait=false | sort':
    'the recorded garbage collector had deleted the Job of the CronJob before the command came to it',
  'kubectl delete ns kc --timeout=40s': 'the recorded namespace still had contents after 40 s',
  'kubectl get ns kc': 'the recorded namespace still had contents after 40 s',
});

type RecordedCommand = CommandOutcome & { readonly command: string };

/** The user of the recording. */
const USER = { name: 'admin', uid: 'admin', groups: ['system:masters'] };
/** How long the controllers may take before the next command, milliseconds. */
const SETTLE_MS = 10_000;

interface KubectlCasesOptions {
  /** Number of commands to run, from the first one. @default all */
  readonly commands?: number;
}

/**
 * Runs recorded commands of `kubectl`, in their order, against a cluster with all controllers and no nodes, and compares what they
 * print. The commands are run by bash as they are written in the recording.
 */
export class KubectlCases implements ConformanceFormat {
  readonly name = 'kubectl';
  private cluster: TestCluster | undefined;
  private shell: KubectlShell | undefined;
  private files: Readonly<Record<string, string>> = RECORDED_FILES;

  constructor(private readonly options: KubectlCasesOptions = {}) {}

  matches(): boolean {
    return false;
  }

  casesOf(lines: readonly JsonObject[]): readonly RecordedCase[] | undefined {
    const files = filesOf(lines[0]);
    const recorded = files ? lines.slice(1) : lines;
    if (recorded.length === 0 || !recorded.every(isRecordedCommand)) return undefined;
    this.files = files ?? RECORDED_FILES;
    const { commands } = this.options;
    return recorded
      .slice(0, commands)
      .map((line) => ({ ...line, id: line.command as string, section: sectionOf(line.command as string) }));
  }

  async open(): Promise<void> {
    const cluster = (this.cluster = await startTestCluster({
      nodes: 0,
      users: [USER],
      unknownServiceAccounts: 'refuse',
      metrics: false,
      manifests: RECORDED_SURROUNDINGS,
    }));
    // The recorded cluster had no default class.
    await cluster.delete('storageclass/standard');
    const { kubeconfig } = await cluster.user(USER.name);
    this.shell = await KubectlShell.open(kubeconfig.path, this.files);
  }

  async close(): Promise<void> {
    await this.shell?.close();
    await this.cluster?.stop();
    this.shell = undefined;
    this.cluster = undefined;
  }

  async run(recorded: RecordedCase): Promise<readonly string[]> {
    const genuine = recorded as unknown as RecordedCommand;
    await this.settle();
    const own = await this.shell?.run(genuine.command);
    if (!own) throw new Error('the cluster has been stopped');
    if (genuine.command === RECORDED_NAMESPACE.createdBy)
      await this.cluster?.apply(RECORDED_NAMESPACE.contents);
    return compareOutcomes(genuine, own);
  }

  deliberate({ id }: RecordedCase): Promise<readonly string[]> {
    const reason = DELIBERATE_DIFFERENCES[id];
    return Promise.resolve(reason === undefined ? [] : [reason]);
  }

  /** A change that takes longer shows in what the next command prints. */
  private async settle(): Promise<void> {
    try {
      await this.cluster?.settled({ timeoutMs: SETTLE_MS });
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
    }
  }
}

/** A first line that is no command holds the files that the commands name: `{"files": {"app.yaml": "…"}}`. */
function filesOf(line: JsonObject | undefined): Readonly<Record<string, string>> | undefined {
  return line?.command === undefined && isJsonObject(line?.files)
    ? (line.files as Record<string, string>)
    : undefined;
}

function isRecordedCommand({ command, exchanges, exit, stderr, stdout }: JsonObject): boolean {
  const isTold = typeof command === 'string' && typeof stdout === 'string' && typeof stderr === 'string';
  return isTold && exit !== undefined && exchanges === undefined;
}

/** `kubectl get -o wide` is in `kubectl get`. */
function sectionOf(command: string): string {
  return command.split(' ', 2).join(' ');
}

/** One line for the exit code and one for the first line of each stream that differs. */
function compareOutcomes(genuine: CommandOutcome, own: CommandOutcome): readonly string[] {
  const exit = genuine.exit === own.exit ? [] : [`exit: expected ${genuine.exit}, got ${own.exit}`];
  return [
    ...exit,
    ...streamDifferences('stdout', genuine, own),
    ...streamDifferences('stderr', genuine, own),
  ];
}

function streamDifferences(
  stream: 'stdout' | 'stderr',
  genuine: CommandOutcome,
  own: CommandOutcome,
): readonly string[] {
  const expected = shownText(genuine[stream]);
  const actual = shownText(own[stream]);
  const length = Math.max(expected.length, actual.length);
  return Array.from({ length }, (_, index) => index)
    .filter((index) => expected[index] !== actual[index])
    .map(
      (index) => `${stream} line ${index + 1}: expected ${show(expected[index])}, got ${show(actual[index])}`,
    );
}

function show(line: string | undefined): string {
  return line === undefined ? 'nothing' : JSON.stringify(line);
}

export const kubectlCases: ConformanceFormat = new KubectlCases();

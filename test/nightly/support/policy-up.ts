import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { HttpApiClient } from '../../../src/client/api-client/index.js';
import { Deployment, Pod, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import { anyKubectl } from '../../e2e/support/kubectl.js';
import type { Finished } from '../../e2e/support/up.js';
import { Up, run } from '../../e2e/support/up.js';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'dist', 'main.js');
/** The objects of the examples that are no Deployments. */
const WORKLOADS: Readonly<Record<string, string>> = {
  'stateful-set.yaml': 'statefulset/db',
  'daemon-set.yaml': 'daemonset/agent',
};
const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'examples', 'policies');

/** The actions of a person on rollouts under a policy, in the namespace `default` of an `up` of its own. */
export class PolicyUp {
  private constructor(
    readonly up: Up,
    readonly client: HttpApiClient,
    private readonly nodes: ChildProcess | undefined,
  ) {}

  static async start(...args: readonly string[]): Promise<PolicyUp> {
    const up = await Up.start({ args });
    return new PolicyUp(up, await up.client(), undefined);
  }

  /** With nodes in a process of their own, which has these arguments. */
  static async withNodes(...nodeArgs: readonly string[]): Promise<PolicyUp> {
    const up = await Up.start({ args: ['--nodes', '0'] });
    const args = [MAIN, 'node', '--nodes', '3', '--kubeconfig', up.kubeconfig, ...nodeArgs];
    const nodes = spawn(process.execPath, args, { stdio: 'ignore' });
    return new PolicyUp(up, await up.client(), nodes);
  }

  async stop(): Promise<void> {
    this.nodes?.kill('SIGKILL');
    await this.client.close();
    await this.up.stopAndRemove();
  }

  kubectl(...args: string[]): Promise<Finished> {
    return this.up.kubectl(anyKubectl()?.binary ?? '', args);
  }

  rollkeeper(...args: string[]): Promise<Finished> {
    return run(process.execPath, [MAIN, ...args, '--kubeconfig', this.up.kubeconfig]);
  }

  /** Applies one of examples/policies with kubectl, and waits until it is rolled out. */
  async applyExample(file: string): Promise<Finished> {
    const applied = await this.kubectl('apply', '-f', join(EXAMPLES, file));
    const workload = WORKLOADS[file] ?? 'deployment/web';
    await this.kubectl('rollout', 'status', workload, '--timeout=120s');
    return applied;
  }

  async killLeader(): Promise<void> {
    process.kill((await this.up.leader()).pid, 'SIGKILL');
  }

  deployment(): Promise<Deployment> {
    return this.client.get<Deployment>(Deployment, { namespace: 'default', name: 'web' });
  }

  async replicaSets(): Promise<readonly ReplicaSet[]> {
    return (await this.client.list<ReplicaSet>(ReplicaSet, { namespace: 'default' })).items;
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.client.list<Pod>(Pod, { namespace: 'default' })).items;
  }

  /** The sizes by image, of those with pods. */
  async sizes(): Promise<Record<string, number>> {
    const active = (await this.replicaSets()).filter(({ spec }) => (spec.replicas ?? 1) > 0);
    return Object.fromEntries(
      active.map((set) => [set.spec.template?.spec?.containers[0]?.image, set.spec.replicas ?? 1]),
    );
  }

  async sized(sizes: Record<string, number>): Promise<void> {
    const sorted = (all: Record<string, number>): string => JSON.stringify(Object.entries(all).sort());
    await waitFor(async () => sorted(await this.sizes()) === sorted(sizes), {
      what: `the sizes ${sorted(sizes)}`,
      timeoutMs: 60_000,
    });
  }

  /** Waits until the condition Progressing says a text. */
  async says(text: string): Promise<void> {
    const condition = async (): Promise<string> => {
      const { status } = await this.deployment();
      const found = status?.conditions?.find(({ type }) => type === 'Progressing');
      return `${found?.reason} ${found?.message}`;
    };
    await waitFor(async () => (await condition()).includes(text), {
      what: `web to say ${text}`,
      timeoutMs: 60_000,
    });
  }
}

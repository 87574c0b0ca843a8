import type { Command } from 'commander';
import { InvalidOptionError } from '../../base/errors/index.js';
import type { Explanation } from '../explain/index.js';
import { stringifyJson } from '../../base/kubernetes/index.js';
import type { ObjectRef } from '../../base/kubernetes/index.js';
import { failProcess } from '../../base/process/index.js';
import type { AdminClientFlags } from './admin-client.js';
import { addAdminOptions, askAdmin } from './admin-client.js';

interface ExplainFlags extends AdminClientFlags {
  readonly json?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** `rollkeeper explain`: why a rollout is where it is. */
export function registerExplainCommand(program: Command): void {
  addAdminOptions(program.command('explain'))
    .description('say why a rollout is where it is, what it waits for, and what would unblock it')
    .argument('<kind>', 'deployment')
    .argument('<name>', 'namespace/name, or a name in the namespace default')
    .option('--json', 'as JSON')
    .option('--kubeconfig <file>', 'ask no replica: work it out from this API alone')
    .option('--context <name>', 'context of the kubeconfig')
    .action(async (kind: string, name: string, flags: ExplainFlags) => {
      try {
        const explanation = await explain(kind, parseRef(name), flags);
        const { renderExplanation } = await import('../explain/index.js');
        console.log(flags.json ? stringifyJson(explanation, 2) : renderExplanation(explanation));
      } catch (error) {
        failProcess(error);
      }
    });
}

async function explain(kind: string, ref: Required<ObjectRef>, flags: ExplainFlags): Promise<Explanation> {
  if (!/^deploy(ment)?s?(\.apps)?$/i.test(kind))
    throw new InvalidOptionError('kind', `"${kind}" cannot be explained; only deployment can`);
  if (flags.kubeconfig !== undefined || flags.context !== undefined) return explainFromApi(ref, flags);
  const path = `/admin/explain/deployments/${encodeURIComponent(ref.namespace)}/${encodeURIComponent(ref.name)}`;
  return (await askAdmin(flags, path)) as Explanation;
}

async function explainFromApi(ref: ObjectRef, flags: ExplainFlags): Promise<Explanation> {
  const { readLiveDeployment, withApi } = await import('./live-deployment.js');
  const { explainDeployment } = await import('../explain/index.js');
  const { SystemClock } = await import('../../base/clock/index.js');
  const live = await withApi(flags, (client) => readLiveDeployment(client, ref));
  return explainDeployment({ ...live, nowMs: new SystemClock().now() });
}

/** `ns/name` or `name`. */
export function parseRef(text: string): Required<ObjectRef> {
  const [first = '', second, ...more] = text.split('/');
  const valid = [first, second ?? 'x'].every((part) => /^[a-z0-9]([\w.-]*[a-z0-9])?$/i.test(part));
  if (!valid || more.length > 0) throw new InvalidOptionError('name', `"${text}" is not namespace/name`);
  return second === undefined ? { namespace: 'default', name: first } : { namespace: first, name: second };
}

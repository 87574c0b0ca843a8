import type { Command } from 'commander';
import type { ObjectRef, OwnerReference } from '@rollkeeper/machinery/kubernetes';
import { Pod, ReplicaSet, controllerOf } from '@rollkeeper/machinery/kubernetes';
import { runOnce } from '@rollkeeper/machinery/process';
import { SCHEDULER_FILE_OPTIONS } from '../replica/scheduler-process/scheduler-options.table.js';
import { explainFromApi } from './explain.command.js';
import type { Explained, SchedulerFileFlags } from './explained-object.js';
import { STATE_EXIT_CODES } from '../terminal/exit-codes.js';
import { EXPLAINED_FORMS, explainedObject, printExplained } from './explained-object.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions } from './output.js';
import { addApiOptions } from './shared-options.js';
import { addOptions } from './table-options.js';
import type { TargetFlags } from './target.js';
import { addNamespaceOption, refOf, typedObject } from './target.js';

interface WhyFlags extends SchedulerFileFlags, Pick<TargetFlags, 'namespace'>, OutputFlags {}

/** `rollkeeper why`: a pod, and then what it belongs to. */
export function registerWhyCommand(program: Command): void {
  const command = addNamespaceOption(addApiOptions(program.command('why')))
    .description(
      'explain why a pod is not running or not ready, and the state of its Deployment, StatefulSet, Job or other owner. Exit codes: those of explain, for the pod',
    )
    .argument('<pod...>', 'NAME, NAMESPACE/NAME or pod/NAME');
  addOptions(addOutputOptions(command, EXPLAINED_FORMS), SCHEDULER_FILE_OPTIONS).action(
    (words: string[], flags: WhyFlags) =>
      runOnce(async () => {
        const typed = typedObject(words, (word) => /^(po|pods?)$/i.test(word));
        const ref = refOf(typed?.name ?? words.join(' '), flags);
        const { kindNamed } = await import('../insight/diagnose/index.js');
        const kind = kindNamed('pod');
        if (!kind) throw new Error('pods cannot be explained');
        const pod = await explainedObject(kind, ref, flags);
        const owner = await explainOwner(ref, flags);
        const text = owner ? `${pod.text}\n\nIt belongs to:\n${owner.text}` : pod.text;
        const value = { pod: pod.value, ...(owner && { owner: owner.value }) };
        await printExplained({ text, value, exitCode: pod.exitCode }, flags);
      }),
  );
}

/** Undefined where the pod has no controller, or one of a kind that cannot be explained. */
async function explainOwner(ref: Required<ObjectRef>, flags: WhyFlags): Promise<Explained | undefined> {
  const owner = await ownerOf(ref, flags);
  if (!owner) return undefined;
  const named = { namespace: ref.namespace, name: owner.name };
  if (owner.kind === 'Deployment') {
    const { renderExplanation } = await import('../insight/explain/index.js');
    const explanation = await explainFromApi(named, flags, owner.apiVersion);
    const exitCode = STATE_EXIT_CODES[explanation.state];
    return { text: renderExplanation(explanation), value: explanation, exitCode };
  }
  const { kindNamed } = await import('../insight/diagnose/index.js');
  const kind = kindNamed(owner.kind);
  return kind && explainedObject(kind, named, flags);
}

/** The controller of the pod; of a ReplicaSet that a Deployment controls, the Deployment. */
async function ownerOf(
  ref: Required<ObjectRef>,
  flags: WhyFlags,
): Promise<Readonly<OwnerReference> | undefined> {
  const { withApi } = await import('./with-api.js');
  return withApi(flags, async (client) => {
    const owner = controllerOf(await client.get<Pod>(Pod, ref));
    if (owner?.kind !== 'ReplicaSet') return owner;
    const set = { namespace: ref.namespace, name: owner.name };
    return controllerOf(await client.get<ReplicaSet>(ReplicaSet, set)) ?? owner;
  });
}

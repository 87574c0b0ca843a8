import { counted } from '@rollkeeper/machinery/text';
import type { Style } from '../../terminal/index.js';
import { renderTable } from '../../terminal/index.js';
import type { TopRollout, TopState, TopView } from './top-view.js';
import { TOP_STATES } from './top-view.js';

/** A screen: the sum, the rollouts, the queues, the replicas. */
export function renderTop(view: TopView, style: Style): string {
  const { at, queues, replicas, rollouts, total } = view;
  const colours = coloursOf(style);
  const sum = TOP_STATES.flatMap((state) => {
    const count = rollouts.filter((rollout) => rollout.state === state).length;
    return count === 0 ? [] : [colours[state](`${count} ${state}`)];
  });
  const parts = [
    `${at}  ${counted(total, 'Deployment')}${sum.length === 0 ? ', nothing moves' : `: ${sum.join(', ')}`}`,
    ...(rollouts.length > 0 ? [rolloutTable(rollouts, style)] : []),
    ...(queues ? [queueTable(queues, style)] : []),
    ...(replicas ? [replicaTable(replicas, style)] : []),
  ];
  return parts.join('\n\n');
}

function rolloutTable(rollouts: readonly TopRollout[], style: Style): string {
  const colours = coloursOf(style);
  return renderTable([
    ['NAMESPACE', 'DEPLOYMENT', 'STATE', 'UPDATED', 'AVAILABLE', 'PODS', 'WHY'],
    ...rollouts.map(({ available, name, namespace, pods, state, updated, wanted, why }) => [
      ...[namespace, name, colours[state](state), `${updated}/${wanted}`, `${available}/${wanted}`],
      ...[String(pods), oneLine(why)],
    ]),
  ]);
}

function queueTable(queues: NonNullable<TopView['queues']>, style: Style): string {
  const busy = queues.filter(
    ({ active, delayed, parked, waiting }) => active + delayed + parked + waiting > 0,
  );
  if (busy.length === 0) return 'All queues are empty.';
  return renderTable([
    ['QUEUE', 'WAITING', 'RUNNING', 'DELAYED', 'PARKED'],
    ...busy.map(({ active, controller, delayed, parked, waiting }) => [
      ...[controller, String(waiting), String(active), String(delayed)],
      parked > 0 ? style.bad(String(parked)) : '0',
    ]),
  ]);
}

function replicaTable(replicas: NonNullable<TopView['replicas']>, style: Style): string {
  return renderTable([
    ['REPLICA', 'ROLE', 'VERSION', 'RUNNING'],
    ...replicas.map(({ identity, leader, reachable, running, version }) => [
      identity,
      reachable ? (leader ? style.good('leader') : 'replica') : style.bad('does not answer'),
      version ?? '-',
      String(running),
    ]),
  ]);
}

/** The differences from the view before, a line each, for logs and pipes; of the first one all of it. */
export function linesOfChange(before: TopView | undefined, view: TopView): readonly string[] {
  const former = new Map((before?.rollouts ?? []).map((rollout) => [idOf(rollout), rollout]));
  const now = new Set(view.rollouts.map(idOf));
  const ended = [...former].filter(([id]) => !now.has(id)).map(([, rollout]) => rollout);
  return [
    ...view.rollouts
      .filter((rollout) => lineOf(rollout) !== lineOfMaybe(former.get(idOf(rollout))))
      .map((rollout) => `${view.at} ${lineOf(rollout)}`),
    ...ended.map(({ name, namespace }) => `${view.at} ${namespace}/${name} no longer moves`),
    ...(before === undefined && view.rollouts.length === 0 ? [`${view.at} nothing moves`] : []),
    ...linesOfQueues(before, view),
  ];
}

function linesOfQueues(before: TopView | undefined, view: TopView): readonly string[] {
  const former = new Map((before?.queues ?? []).map((queue) => [queue.controller, queue.parked]));
  return (view.queues ?? [])
    .filter(({ controller, parked }) => parked !== (former.get(controller) ?? 0))
    .map(({ controller, parked }) => `${view.at} queue ${controller}: ${parked} parked`);
}

function idOf({ apiVersion, name, namespace }: TopRollout): string {
  return `${apiVersion} ${namespace}/${name}`;
}

function lineOf({ available, name, namespace, pods, state, updated, wanted, why }: TopRollout): string {
  return `${namespace}/${name} ${state} updated=${updated}/${wanted} available=${available}/${wanted} pods=${pods}: ${oneLine(why)}`;
}

function lineOfMaybe(rollout: TopRollout | undefined): string | undefined {
  return rollout && lineOf(rollout);
}

function coloursOf(style: Style): Readonly<Record<TopState, (text: string) => string>> {
  const { bad, faint, strong, warning } = style;
  return { blocked: bad, degraded: bad, progressing: strong, paused: warning, deleting: faint };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

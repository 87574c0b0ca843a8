import type { RolloutState, RolloutView } from '@rollkeeper/controllers/deployment';
import {
  REVISION,
  failureOf,
  readFailures,
  readRevisionEntries,
  rolloutState,
  whoAsked,
} from '@rollkeeper/controllers/deployment';
import { parseTimeMs, shortenedTo } from '@rollkeeper/controllers/shared';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { findCondition } from '@rollkeeper/machinery/kubernetes';
import { decideRolloutEvent } from '../events/decide-rollout-event.js';
import { rolloutAddress } from '../object-pages/console-addresses.js';
import type { Notification, NotifiedEvent } from './formats/notification.js';

/** An older event is not reported: no channel was named then, or everything was tried. */
export const NOTIFIED_WITHIN_MS = 3_600_000;

/** The longest text of a message, characters: the shortest limit of the services is 2000. */
const LONGEST_TEXT = 1500;
const MOST_IMAGES = 5;
/** The longest name of an image in a message, characters. */
const LONGEST_IMAGE = 300;
/** Digits of an int64. A user may write the annotation. */
const REVISION_NUMBER = /^\d{1,19}$/;

interface Found {
  readonly event: NotifiedEvent;
  readonly key: string;
  readonly title: string;
  readonly text: string;
  readonly atMs: number;
}

/**
 * The events that the state of a rollout shows now, in the order in which they happened. Pure: the same rollout comes to the
 * same events, on any replica and after any restart.
 * @param consoleUrl origin of the console; absent: no links
 */
export function decideNotifications(view: RolloutView, consoleUrl?: string): readonly Notification[] {
  const { deployment, nowMs } = view;
  const { metadata } = deployment;
  const revision = metadata.annotations?.[REVISION];
  const replicaSet = view.replicaSets.find((set) => set.metadata.annotations?.[REVISION] === revision);
  if (revision === undefined || !REVISION_NUMBER.test(revision) || !replicaSet) return [];
  const state = rolloutState(view);
  const found = [startOf(view, state, replicaSet), stepOf(view), failureAt(view, state), outcomeOf(view)];
  const { name, namespace = 'default', uid = '' } = metadata;
  const entry = entryOf(replicaSet, revision);
  const by = entry && whoAsked(entry, 'claimed');
  const cause = failureOf(state);
  const { apiVersion, kind } = deployment;
  const about = { apiVersion, kind, metadata: { namespace, name, uid } };
  const images = (replicaSet.spec.template?.spec?.containers ?? []).map(({ image = '' }) =>
    shortenedTo(LONGEST_IMAGE, image),
  );
  return found
    .flatMap((each) => each ?? [])
    .filter(({ atMs }) => nowMs - atMs <= NOTIFIED_WITHIN_MS)
    .map((each) => ({
      ...each,
      ...{ id: `${uid}.${revision}.${each.key}`, namespace, name, uid, about, revision, replicaSet },
      title: `${namespace}/${name} ${each.title}`,
      text: shortenedTo(LONGEST_TEXT, each.text),
      images: images.slice(0, MOST_IMAGES),
      ...(by !== undefined && { by }),
      ...(cause !== undefined && each.event !== 'started' && { cause: shortenedTo(LONGEST_TEXT, cause) }),
      ...linksTo(view, each.event, consoleUrl),
    }));
}

function linksTo(
  { deployment }: RolloutView,
  event: NotifiedEvent,
  consoleUrl: string | undefined,
): Pick<Notification, 'link' | 'approveLink'> {
  if (consoleUrl === undefined) return {};
  const { name, namespace = 'default' } = deployment.metadata;
  const link = rolloutAddress(consoleUrl, { namespace, name }, deployment.apiVersion);
  if (event !== 'waiting-for-approval') return { link };
  const approve = new URL(link);
  approve.searchParams.set('ask', `promote:rollouts/${approve.searchParams.get('deployment')}`);
  return { link, approveLink: approve.href };
}

function entryOf({ metadata }: DeepReadonly<ReplicaSet>, revision: string) {
  return readRevisionEntries(metadata.annotations).find((entry) => entry.revision === revision);
}

/** The start of a revision that is on its way. One that the controller goes back to by itself has none of its own. */
function startOf(
  view: RolloutView,
  { phase }: RolloutState,
  replicaSet: DeepReadonly<ReplicaSet>,
): Found | undefined {
  const { deployment } = view;
  const entry = entryOf(replicaSet, deployment.metadata.annotations?.[REVISION] ?? '');
  const atMs = parseTimeMs(entry?.at);
  if (!entry || atMs === undefined || entry.trigger === 'rollback') return undefined;
  if (phase === 'complete' || phase === 'deleting' || phase === 'rolled-back') return undefined;
  const text = [entry.what, entry.why].filter((each) => each !== undefined && each !== '').join('. ');
  return {
    ...{ event: 'started', key: 'started', atMs },
    title: `rolls out revision ${entry.revision}`,
    text: text === '' ? `The rollout began (${entry.trigger}).` : `${text}.`,
  };
}

/** A step that holds the rollout for a time. One that waits for a person is an event of its own. */
function stepOf({ deployment }: RolloutView): Found | undefined {
  const {
    lastUpdateTime,
    message = '',
    reason,
  } = findCondition(deployment.status?.conditions, 'Progressing') ?? {};
  const [, step, steps] = /^Step (\d{1,3}) of (\d{1,3}) /.exec(message) ?? [];
  const atMs = parseTimeMs(lastUpdateTime);
  if (step === undefined || atMs === undefined || reason === 'WaitingForApproval') return undefined;
  return { event: 'step', key: `step.${step}`, title: `is at step ${step} of ${steps}`, text: message, atMs };
}

/** A failure is reported when the way back begins: its end is an event of its own. */
function failureAt({ deployment }: RolloutView, { message, phase }: RolloutState): Found | undefined {
  const [newest] = readFailures(deployment.metadata.annotations ?? {});
  const atMs = parseTimeMs(newest?.at);
  if (phase !== 'rolling-back' || atMs === undefined) return undefined;
  return { event: 'failed', key: `failed.${atMs}`, title: 'failed and goes back', text: message, atMs };
}

function outcomeOf(view: RolloutView): Found | undefined {
  const told = decideRolloutEvent(view);
  if (!told) return undefined;
  const { atMs, key, message, outcome, revision } = told;
  const title = {
    complete: `runs revision ${revision}`,
    failed: `failed at revision ${revision}`,
    'rolled-back': `was rolled back, and runs revision ${revision}`,
    'waiting-for-approval': 'waits for an approval',
  }[outcome];
  return { event: outcome, key, title, text: message, atMs };
}

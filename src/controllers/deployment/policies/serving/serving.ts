import { NO_REQUESTS, REQUESTS_OF_VERSION } from '../../../shared/index.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import { hashOfSet } from '../blue-green/blue-green-plan.js';
import { hashSelectedBy, type Services } from '../blue-green/selecting-services.js';
import type { BlueGreenFields } from '../blue-green/settings.js';
import type { Pass, Policy } from '../common/pass.js';
import { trafficServicesOf } from '../common/steered-services.js';
import type { PolicySettings } from '../common/settings.js';
import type { TrafficFields } from '../traffic/settings.js';
import { weightNoteOf } from '../traffic/weight-note.js';

interface ServingPass extends Pass<BlueGreenFields & TrafficFields> {
  readonly services?: Services | 'off';
}

export const SERVING_SETTINGS: PolicySettings<object> = {
  none: {},
  readers: {},
  keeps: [REQUESTS_OF_VERSION],
};

/** Marks the versions that get no requests, if versions run whole beside each other, so that autoscalers do not count their pods. */
export const SERVING: Policy<ServingPass> = {
  conclude: (pass) => {
    if (pass.isDeleted || pass.draft.spec.paused) return;
    const idle = idleVersions(pass);
    for (const set of pass.draft.living) mark(pass, set, idle.has(set));
  },
};

function idleVersions({ draft, policy, services }: ServingPass): ReadonlySet<ReplicaSetDraft> {
  const { blueGreen, traffic } = policy;
  if (services === undefined || services === 'off' || !(blueGreen ?? traffic)) return new Set();
  const { name, namespace = '' } = draft.observed.metadata;
  const names = traffic && trafficServicesOf(traffic, name);
  const service = services.find(namespace, blueGreen?.activeService ?? names?.stable ?? '');
  const hash = service && hashSelectedBy(service);
  const active = activeOf(draft.living);
  const selected = active.find((set) => hash !== undefined && hashOfSet(set) === hash);
  if (!selected) return new Set();
  const others = active.filter((set) => set !== selected);
  if (blueGreen) return new Set(others);
  const shares = others.map((set) => [set, weightNoteOf(set)] as const);
  // Its routes have the share once that is known since when.
  const isWhole = shares.some(([, note]) => note?.percent === 100 && note.since !== undefined);
  const without = shares.filter(([, note]) => (note?.percent ?? 0) === 0 && (note?.from ?? 0) === 0);
  return new Set([...(isWhole ? [selected] : []), ...without.map(([set]) => set)]);
}

function mark({ draft }: ServingPass, set: ReplicaSetDraft, isIdle: boolean): void {
  const { [REQUESTS_OF_VERSION]: before, ...others } = set.annotations;
  if (isIdle && before !== NO_REQUESTS)
    draft.annotate(set, { ...others, [REQUESTS_OF_VERSION]: NO_REQUESTS });
  if (!isIdle && before !== undefined) draft.annotate(set, others);
}

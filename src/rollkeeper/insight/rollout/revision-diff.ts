import { UnsupportedError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Int64, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import type { TemplateChange } from '@rollkeeper/controllers/deployment';
import { changesOfTemplate } from '@rollkeeper/controllers/deployment';
import type { Style } from '../../terminal/index.js';
import { renderTable } from '../../terminal/index.js';
import { HIDDEN, HiddenValues, withoutMarks } from './hide-values.js';

/** The sections of a change, in the order in which people ask. */
const SECTIONS = ['image', 'environment', 'resources', 'probes', 'other'] as const;
type Section = (typeof SECTIONS)[number];

/** A field that differs between two revisions. */
export interface RevisionChange {
  /** `container app`, `init container setup`, or `pod`. */
  readonly place: string;
  readonly section: Section;
  /** `image`, `env LEVEL`, `readinessProbe.httpGet.port` */
  readonly field: string;
  /** Undefined: it was not there. `(hidden)`: it may be secret. */
  readonly from?: string;
  /** Undefined: it was removed. */
  readonly to?: string;
}

export interface RevisionDiff {
  readonly from: RevisionName;
  readonly to: RevisionName;
  readonly changes: readonly RevisionChange[];
}

/** The number of a revision, or `live`: what the Deployment asks for. */
type RevisionName = Int64 | 'live';

/** @param showValues also those that may be secret */
export function decideDiff(
  from: DeepReadonly<PodTemplateSpec>,
  to: DeepReadonly<PodTemplateSpec>,
  { showValues = false }: { readonly showValues?: boolean } = {},
): readonly RevisionChange[] {
  const hidden = new HiddenValues();
  const [before, after] = showValues ? [from, to] : [hidden.hide(from), hidden.hide(to)];
  return changesOfTemplate(before, after)
    .map(changeOf)
    .sort((a, b) => rankOf(a) - rankOf(b) || SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section));
}

/** Containers first, then what the pod has as a whole. */
function rankOf({ place }: RevisionChange): number {
  return place === 'pod' ? 2 : place.startsWith('container ') ? 0 : 1;
}

function changeOf({ field, from, to }: TemplateChange): RevisionChange {
  const [, place = 'pod', name = field] =
    /^((?:init |ephemeral )?container [^:]+)(?:: (.*))?$/.exec(field) ?? [];
  const inside = place === 'pod' ? field : name === field ? 'container' : name;
  return {
    place,
    section: sectionOf(inside),
    field: inside,
    ...(from !== undefined && { from: withoutMarks(from) }),
    ...(to !== undefined && { to: withoutMarks(to) }),
  };
}

function sectionOf(field: string): Section {
  if (field === 'image' || field === 'imagePullPolicy') return 'image';
  if (/^env\b|^envFrom/.test(field)) return 'environment';
  if (/^resources\b/.test(field)) return 'resources';
  return /^(readiness|liveness|startup)Probe/.test(field) ? 'probes' : 'other';
}

/** The two revisions that are compared: without numbers, the one that runs with the one before. */
export function revisionsToCompare(
  known: readonly { readonly revision: Int64; readonly isCurrent: boolean }[],
  asked: readonly bigint[],
): readonly [from: bigint, to?: bigint] {
  const [from, to] = asked;
  if (from !== undefined) return [from, to];
  const current = known.findLast(({ isCurrent }) => isCurrent);
  const before = known.findLast((each) => current === undefined || each.revision < current.revision);
  if (!before) throw new UnsupportedError('there is only one revision; nothing can be compared with it');
  return [BigInt(before.revision), current && BigInt(current.revision)];
}

/** Each place with its changes below it. */
export function renderDiff(name: string, { changes, from, to }: RevisionDiff, style: Style): string {
  const title = style.strong(`${name}: ${nameOf(from)} → ${nameOf(to)}`);
  if (changes.length === 0) return `${title}\nnothing differs`;
  const places = [...Map.groupBy(changes, ({ place }) => place)];
  return [
    title,
    ...places.map(
      ([place, of]) =>
        `${place}\n${indented(
          renderTable(of.map((change) => [change.section, change.field, describe(change, style)])),
        )}`,
    ),
  ].join('\n');
}

function describe({ from, to }: RevisionChange, style: Style): string {
  if (from === undefined) return style.good(to === HIDDEN ? 'added' : `added: ${to ?? ''}`);
  if (to === undefined) return style.bad(from === HIDDEN ? 'removed' : `removed: ${from}`);
  if (from === HIDDEN && to === HIDDEN) return 'changed (values are not shown)';
  return `${style.bad(from)} → ${style.good(to)}`;
}

function nameOf(revision: RevisionName): string {
  return revision === 'live' ? 'what runs now' : `revision ${revision}`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}

import { renderDuration } from '@rollkeeper/machinery/clock';
import type { RecordEntry } from './record-entry.js';

/** An entry in words, for people. */
export function wordsOf(entry: RecordEntry): string {
  const { kind, sizes, tookMs, what, why } = entry;
  const took = tookMs === undefined ? '' : ` after ${renderDuration(tookMs)}`;
  switch (kind) {
    case 'created':
      return 'the Deployment was created';
    case 'approved':
      return `${what ?? 'a step'} was approved`;
    case 'ended':
      return `complete${took}`;
    case 'failed':
      return `failed${took}${why === undefined ? '' : `: ${why}`}`;
    case 'good':
      return 'counts as good from here on';
    case 'scaled':
      return `scaled${renderSizes(sizes)}`;
    case 'sized':
      return `${entry.replicaSet ?? ''}${renderSizes(sizes)} (${entry.sums ?? ''})`;
    case 'summary':
      return renderSummary(entry);
    case 'change':
      return [entry.result ?? 'not known to have ended', what, why].filter(Boolean).join('; ') + took;
    case 'asked':
      return [what ?? 'a rollout', ...(why === undefined ? [] : [`because: ${why}`])].join('; ');
    case 'experiment':
      return `${what ?? 'an experiment'}${took}${why === undefined ? '' : `, because ${why}`}`;
    case 'paused':
    case 'resumed':
      return kind;
  }
}

function renderSizes(sizes: RecordEntry['sizes']): string {
  if (!sizes) return '';
  if ('from' in sizes) return ` ${sizes.from} → ${sizes.to}`;
  return ` ${sizes.least}–${sizes.most}`;
}

function renderSummary({ counts = {}, failures = [], sizes }: RecordEntry): string {
  const { changes = 0, complete = 0, failed = 0, scaled = 0, steps = 0 } = counts;
  const parts = [
    `${changes} changes: ${complete} complete, ${failed} failed`,
    ...(scaled > 0 ? [`scaled ${scaled} times,${renderSizes(sizes)}`] : []),
    ...(steps > 0 ? [`${steps} steps`] : []),
    ...failures,
  ];
  return parts.join('; ');
}

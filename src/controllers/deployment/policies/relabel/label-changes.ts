import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { PINNED_CONFIG } from '../../../shared/index.js';
import { RESTARTED_AT } from '../../kubernetes/annotations.js';
import { equalIgnoringHash, withoutHash } from '../../kubernetes/pod-template.js';
import { CONFIG_DIGEST } from '../config-restart/settings.js';

type Template = DeepReadonly<PodTemplateSpec>;
type Values = Readonly<Record<string, string>>;

/** The keys whose values differ between two templates that are equal otherwise. */
export interface LabelChanges {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

/** A change of one of these asks for other pods. */
const RESTARTS: ReadonlySet<string> = new Set([RESTARTED_AT, CONFIG_DIGEST, PINNED_CONFIG]);

/** @returns undefined if pods have to be replaced: something else differs, or a restart is asked for */
export function labelChanges(from: Template, to: Template): LabelChanges | undefined {
  if (!equalIgnoringHash(withoutValues(from), withoutValues(to))) return undefined;
  const [before, after] = [withoutHash(from).metadata, withoutHash(to).metadata];
  const labels = differing(before?.labels, after?.labels);
  const annotations = differing(before?.annotations, after?.annotations);
  if (labels.length + annotations.length === 0 || annotations.some((key) => RESTARTS.has(key)))
    return undefined;
  return { labels, annotations };
}

function withoutValues(template: Template): Template {
  const { annotations: _annotations, labels: _labels, ...metadata } = template.metadata ?? {};
  return { ...template, metadata };
}

function differing(before: Values = {}, after: Values = {}): readonly string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => before[key] !== after[key]).sort();
}

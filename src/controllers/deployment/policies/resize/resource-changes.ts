import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { isSidecar, resizedResources, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { equalIgnoringHash } from '../../kubernetes/pod-template.js';

type Template = DeepReadonly<PodTemplateSpec>;
type Spec = NonNullable<Template['spec']>;
type Container = Spec['containers'][number];
export type Resources = NonNullable<Container['resources']>;

const LISTS = ['containers', 'initContainers'] as const;
export type ContainerList = (typeof LISTS)[number];
const PARTS = ['requests', 'limits'] as const;

/** A container whose cpu or memory is another one. */
export interface ResourceChange {
  readonly list: ContainerList;
  readonly container: string;
  /** cpu and memory of the template that is asked for. */
  readonly resources: Resources;
  /** Whether the container restarts with it, by its `resizePolicy`. */
  readonly restarts: boolean;
}

/**
 * The containers whose cpu and memory differ, where nothing else does and the API lets a running pod have it: an amount may change or be
 * added, and none may be taken away. Undefined: pods have to be replaced.
 */
export function resourceChanges(from: Template, to: Template): readonly ResourceChange[] | undefined {
  if (!equalIgnoringHash(withoutAmounts(from), withoutAmounts(to))) return undefined;
  const changes: ResourceChange[] = [];
  for (const list of LISTS) {
    const after = new Map(to.spec?.[list]?.map((each) => [each.name, each]));
    for (const before of from.spec?.[list] ?? []) {
      const wanted = after.get(before.name);
      const names = resizedResources(before.resources, wanted?.resources);
      if (!wanted || names.length === 0) continue;
      if (list === 'initContainers' && !isSidecar(before)) return undefined;
      if (names.some((name) => isTakenAway(name, before, wanted))) return undefined;
      const restarts = names.some((name) => restartsFor(before, name));
      changes.push({ list, container: before.name, resources: wanted.resources ?? {}, restarts });
    }
  }
  return changes.length > 0 ? changes : undefined;
}

/** cpu and memory of all containers that state any, as if they had changed. */
export function amountsOfTemplate({ spec }: Template): readonly ResourceChange[] {
  return LISTS.flatMap((list) =>
    (spec?.[list] ?? [])
      .filter((container) => list === 'containers' || isSidecar(container))
      .filter(({ resources }) => resizedResources(resources, undefined).length > 0)
      .map((container) => ({
        list,
        container: container.name,
        resources: container.resources ?? {},
        restarts: ['cpu', 'memory'].some((name) => restartsFor(container, name)),
      })),
  );
}

function withoutAmounts(template: Template): Template {
  if (!template.spec) return template;
  const spec = { ...template.spec };
  for (const list of LISTS) if (spec[list]) Object.assign(spec, { [list]: spec[list].map(stripped) });
  return { ...template, spec };
}

function stripped(container: Container): Container {
  const { resources = {}, ...others } = container;
  const fixed = { ...resources };
  for (const part of PARTS) {
    const { cpu: _cpu, memory: _memory, ...kept } = resources[part] ?? {};
    if (Object.keys(kept).length > 0) fixed[part] = kept;
    else delete fixed[part];
  }
  return semanticEqual(fixed, {}) ? others : { ...others, resources: fixed };
}

function isTakenAway(name: string, before: Container, after: Container): boolean {
  return PARTS.some(
    (part) => before.resources?.[part]?.[name] !== undefined && after.resources?.[part]?.[name] === undefined,
  );
}

function restartsFor({ resizePolicy }: Container, name: string): boolean {
  return (
    resizePolicy?.some(
      ({ resourceName, restartPolicy }) => resourceName === name && restartPolicy === 'RestartContainer',
    ) === true
  );
}

import type { Amounts, DeepReadonly, Node } from '@rollkeeper/machinery/kubernetes';
import { parseQuantity } from '@rollkeeper/machinery/kubernetes';

/** On a Node: how it behaves, words of {@link NODE_BEHAVIOURS} with commas between. */
export const NODE_BEHAVIOUR_ANNOTATION = 'node.rollkeeper.dev/behaviour';
/** On a Node: amounts over those that it came with, as `cpu=4,memory=8Gi,example.com/gpu=0`. */
export const CAPACITY_ANNOTATION = 'node.rollkeeper.dev/capacity';
/** On a Node: what the system uses beside the pods, as `memory=12Gi,ephemeral-storage=900Gi`. */
export const SYSTEM_USAGE_ANNOTATION = 'node.rollkeeper.dev/system-usage';

/**
 * The behaviours of a node:
 * - `silent`: no heartbeats, and nothing happens to its pods.
 * - `gone`: the same, and its cloud no longer knows it.
 * - `not-ready`: its container runtime is down.
 * - `…-pressure`: it has too little of that resource, regardless of its usage.
 * - `network-unavailable`: its cloud creates no route for it.
 * - `shutdown`: it ends its pods in order, and is silent then.
 */
const NODE_BEHAVIOURS = [
  'silent',
  'gone',
  'not-ready',
  'memory-pressure',
  'disk-pressure',
  'pid-pressure',
  'network-unavailable',
  'shutdown',
] as const;
export type NodeBehaviour = (typeof NODE_BEHAVIOURS)[number];

type Annotated = DeepReadonly<Pick<Node, 'metadata'>>;

/** Unknown words are none. */
export function nodeBehaviours(node: Annotated | undefined): ReadonlySet<NodeBehaviour> {
  const text = node?.metadata.annotations?.[NODE_BEHAVIOUR_ANNOTATION];
  if (!text) return NONE;
  const words = text.split(',').map((word) => word.trim());
  return new Set(NODE_BEHAVIOURS.filter((behaviour) => words.includes(behaviour)));
}

const NONE: ReadonlySet<NodeBehaviour> = new Set();

/** Whether its simulator says and does nothing. */
export function isSilent(node: Annotated | undefined): boolean {
  const behaviours = nodeBehaviours(node);
  return behaviours.has('silent') || behaviours.has('gone');
}

/** The amounts of an annotation of a node. Parts that cannot be read are left out. */
export function amountsAnnotation(node: Annotated | undefined, annotation: string): Amounts {
  const text = node?.metadata.annotations?.[annotation];
  return text ? readAmounts(text).amounts : {};
}

/** The problems of a node's annotations, a line each. */
export function nodeAnnotationProblems({ metadata: { annotations = {} } }: Annotated): readonly string[] {
  const words = (annotations[NODE_BEHAVIOUR_ANNOTATION] ?? '').split(',').map((word) => word.trim());
  const unknown = words.filter((word) => word !== '' && !NODE_BEHAVIOURS.some((known) => known === word));
  return [
    ...unknown.map(
      (word) => `${NODE_BEHAVIOUR_ANNOTATION}: "${word}" is not one of ${NODE_BEHAVIOURS.join(', ')}`,
    ),
    ...[CAPACITY_ANNOTATION, SYSTEM_USAGE_ANNOTATION].flatMap((name) =>
      readAmounts(annotations[name] ?? '').wrong.map((part) => `${name}: "${part}" is not NAME=QUANTITY`),
    ),
  ];
}

function readAmounts(text: string): { readonly amounts: Amounts; readonly wrong: readonly string[] } {
  const amounts: Record<string, string> = {};
  const wrong: string[] = [];
  for (const part of text.split(',').map((each) => each.trim())) {
    if (part === '') continue;
    const [, name = '', amount = ''] = /^([A-Za-z0-9./_-]+)=(\S+)$/.exec(part) ?? [];
    const quantity = parseQuantity(amount);
    if (name === '' || !quantity || quantity.nanos < 0n) wrong.push(part);
    else amounts[name] = amount;
  }
  return { amounts, wrong };
}

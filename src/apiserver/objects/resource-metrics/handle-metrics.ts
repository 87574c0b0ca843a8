import { containerUsages, NO_USAGE, objectOfKind, totalUsage } from '@rollkeeper/machinery/kubernetes';
import type { Pod, UnstructuredObject, Usage } from '@rollkeeper/machinery/kubernetes';
import { methodNotAllowed, notFound, unknownPath } from '../../schema/errors/index.js';
import { listPages } from '../handlers/list-pages.js';
import { respondWithList } from '../handlers/list-response.js';
import type { PageSource } from '../handlers/list-pages.js';
import { negotiate, ok } from '../../http/index.js';
import type { ApiRequest, ApiResponse } from '../../http/index.js';
import type { KindDefinition, ShownKind } from '../../kinds/index.js';
import type { RegistryContext } from '../registry/index.js';
import { parseSelection } from '../../kinds/selectors/index.js';
import { checkView, presentObject } from '../../http/table.js';
import { NODE_METRICS, nodeMetrics, podMetrics } from './metrics-kinds.js';

interface MetricsCall {
  readonly kind: ShownKind;
  readonly request: ApiRequest;
  /** Empty: all, or cluster scope. */
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  readonly subresource: string;
}

/** The measurement of a stored pod or node; undefined: none. */
type Measure = (object: UnstructuredObject) => UnstructuredObject | undefined;

/**
 * `GET` of usages, of one or of all: `metrics.k8s.io` as metrics-server has it, out of what pods say that they use. They are made
 * of the pods and nodes that there are at that moment; selectors select among those.
 */
export async function handleMetrics(context: RegistryContext, call: MetricsCall): Promise<ApiResponse> {
  const { kind, name, namespace, request, subresource } = call;
  const isScoped = !kind.type.namespaced || name === '' || namespace !== '';
  if (subresource !== '' || !isScoped || (!kind.type.namespaced && namespace !== '')) throw unknownPath();
  if (request.method !== 'GET' || request.flag('watch')) throw methodNotAllowed();
  const accept = negotiate(request.headers.accept);
  checkView({ accept, request });
  const measured = storedKind(context, kind.type.resource);
  const selection = parseSelection(request.query, measured, name);
  const measure = kind === NODE_METRICS ? await measureNodes(context) : measurePods(context);
  const pages = measuredPages(listPages(context, { kind: measured, namespace }, selection, {}), measure);
  const view = { kind, accept, request };
  if (name === '') return respondWithList(context, view, pages, () => ({}));
  const measurement = (await pages.next())?.items[0];
  if (!measurement) throw notFound(kind.type, name);
  return ok(presentObject(measurement.object, kind, view, context.clock.now()));
}

function measurePods({ clock }: RegistryContext): Measure {
  return (pod) => podMetrics(objectOfKind<Pod>(pod), clock.now());
}

/** A node uses the sum of what its pods use. */
async function measureNodes(context: RegistryContext): Promise<Measure> {
  const usages = new Map<string, Usage>();
  const everything = { kind: storedKind(context, 'pods'), namespace: '' };
  const pages = listPages(context, everything, parseSelection(new URLSearchParams(), everything.kind), {});
  for (let page = await pages.next(); page; page = await pages.next())
    for (const { object } of page.items) {
      const pod: Pod = objectOfKind(object);
      const { nodeName = '' } = pod.spec;
      usages.set(nodeName, totalUsage([usages.get(nodeName) ?? NO_USAGE, ...containerUsages(pod)]));
    }
  return (node) => nodeMetrics(node, usages.get(node.metadata.name) ?? NO_USAGE, context.clock.now());
}

function measuredPages(pages: PageSource, measure: Measure): PageSource {
  return {
    async next() {
      const page = await pages.next();
      if (!page) return undefined;
      const measured = page.items.flatMap(({ object }) => measure(object) ?? []);
      return { ...page, items: measured.map((object) => ({ object })) };
    },
  };
}

function storedKind({ kinds }: RegistryContext, resource: string): KindDefinition {
  const kind = kinds.find('', 'v1', resource);
  if (!kind) throw new Error(`there is no kind for ${resource}`);
  return kind;
}

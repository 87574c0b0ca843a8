import type { AnswerServer } from './answer-server.js';
import type { Json, JsonObject } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';

/** The change that a controller, which does not run here, has made in an object of the set-up. */
interface Played {
  readonly path: string;
  readonly change: (object: JsonObject) => JsonObject;
}

const UNREACHABLE = 'node.kubernetes.io/unreachable';

/** Source: what the recorded answers show of objects that no request has changed. */
const PLAYED: readonly Played[] = [
  {
    // No kubelet ever reported the status of this node.
    path: '/api/v1/nodes/node',
    change: (node) => ({
      ...withMetadata(node, 'annotations', { 'node.alpha.kubernetes.io/ttl': '0' }),
      spec: { ...objectIn(node, 'spec'), taints: taintsOf(objectIn(node, 'spec')) },
    }),
  },
  {
    path: '/apis/networking.k8s.io/v1/servicecidrs/cidr',
    change: (cidr) => ({
      ...cidr,
      metadata: {
        ...objectIn(cidr, 'metadata'),
        finalizers: ['networking.k8s.io/service-cidr-finalizer'],
      },
    }),
  },
  {
    path: '/apis/autoscaling/v2/namespaces/validation/horizontalpodautoscalers/hpa/status',
    change: (autoscaler) => ({
      ...autoscaler,
      status: {
        conditions: [
          {
            type: 'AbleToScale',
            status: 'False',
            lastTransitionTime: '2026-01-01T00:00:00Z',
            reason: 'FailedGetScale',
            message:
              'the HPA controller was unable to get the target\'s current scale: deployments.apps "nosuch" not found',
          },
        ],
      },
    }),
  },
];

/** Does once what the controllers of the recorded cluster have done to the objects of the set-up. */
export async function playControllers(server: AnswerServer): Promise<void> {
  for (const { change, path } of PLAYED) {
    const { body, code } = await server.send({ method: 'GET', path });
    if (code !== 200) continue;
    const answer = await server.send({ method: 'PUT', path, body: change(body) });
    if (answer.code !== 200) throw new Error(`what a controller does is refused: ${path}: ${answer.code}`);
  }
}

function taintsOf({ taints }: JsonObject): Json {
  const own = (Array.isArray(taints) ? (taints as readonly Json[]) : []).filter(
    (taint) => isJsonObject(taint) && taint.key !== 'node.kubernetes.io/not-ready',
  );
  return [...own, { key: UNREACHABLE, effect: 'NoSchedule', timeAdded: '2026-01-01T00:00:00Z' }];
}

function withMetadata(object: JsonObject, field: string, values: JsonObject): JsonObject {
  const metadata = objectIn(object, 'metadata');
  return { ...object, metadata: { ...metadata, [field]: { ...objectIn(metadata, field), ...values } } };
}

function objectIn(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? value : {};
}

import type { ClassifiedPod } from '@rollkeeper/controllers/shared';

/** An obstacle that keeps pods from a node, and what ends it. */
interface Obstacle {
  /** Matches one reason of the scheduler's message, as kube-scheduler words it. */
  readonly says: RegExp;
  readonly unblockedBy: readonly string[];
}

const OBSTACLES: readonly Obstacle[] = [
  {
    says: /persistentvolumeclaim "[^"]*" not found/i,
    unblockedBy: ['create the PersistentVolumeClaim, or correct its name in the template'],
  },
  {
    says: /unbound immediate PersistentVolumeClaims|didn't find available persistent volumes|available volume zone|being deleted|bound to non-existent|volume node affinity conflict|storageclass|PersistentVolume/i,
    unblockedBy: [
      'bind its claim to a volume that a node can reach: kubectl get pvc,pv, and rollkeeper explain pvc/NAME',
    ],
  },
  {
    says: /max volume count/i,
    unblockedBy: ['add nodes: each of them has as many volumes as it can attach'],
  },
  {
    says: /resourceclaim|allocate all claims|DeviceClass/i,
    unblockedBy: ['make the devices of its ResourceClaim available: kubectl describe resourceclaim'],
  },
  {
    says: /didn't match Pod's node affinity|node affinity\/selector/i,
    unblockedBy: [
      'give a node the label that the template asks for (kubectl label node), or correct its nodeSelector and node affinity',
    ],
  },
  {
    says: /untolerated taint/i,
    unblockedBy: [
      'remove the taint from a node (kubectl taint node NAME KEY-), or give the template a toleration of it',
    ],
  },
  {
    says: /were unschedulable/i,
    unblockedBy: ['make a cordoned node schedulable again: kubectl uncordon NAME'],
  },
  {
    says: /free ports/i,
    unblockedBy: [
      'a host port is free once on each node: request fewer pods, add nodes, or take hostPort out of the template',
    ],
  },
  {
    says: /topology spread/i,
    unblockedBy: [
      'add nodes to the topology that has too few pods (a node without its label does not count), or allow a larger maxSkew',
    ],
  },
  {
    says: /anti-affinity/i,
    unblockedBy: ['add nodes without the pods that it must not be beside, or relax the pod anti-affinity'],
  },
  {
    says: /pod affinity/i,
    unblockedBy: ['make room beside the pods that its pod affinity asks for, or relax that affinity'],
  },
  {
    says: /requested node name/i,
    unblockedBy: ['correct nodeName or the hostname that the template asks for: no such node takes pods'],
  },
  {
    says: /Too many pods/i,
    unblockedBy: ['add nodes, or delete pods: each node runs as many pods as its kubelet allows'],
  },
  {
    says: /Insufficient /i,
    unblockedBy: ['add nodes or free resources on them', "or request less: the template's requests"],
  },
];

const OF_ANY_OBSTACLE: readonly string[] = [
  'change what the message names: the nodes, or what the template asks of them',
];
const WITHOUT_NODES: readonly string[] = ['add a node: the cluster has none'];

/**
 * The remedies that would let a node pull an image, by the kubelet's reason and the registry's words. What preemption
 * adds to the message says nothing more.
 * @param message of the PodScheduled condition
 */
export function unschedulableRemedies(message = ''): readonly string[] {
  if (/no nodes available|^0\/0 nodes/i.test(message)) return WITHOUT_NODES;
  const [said = ''] = message.split(/preemption:/i);
  const after = said.slice(said.indexOf('nodes are available:') + 1);
  const reasons = after.split(/[,:] /).map((reason) => ({
    reason,
    nodes: Number(/^\s*(\d+) /.exec(reason)?.[1] ?? Number.MAX_SAFE_INTEGER),
  }));
  const obstacles = reasons
    .toSorted((a, b) => b.nodes - a.nodes)
    .flatMap(({ reason }) => OBSTACLES.find(({ says }) => says.test(reason)) ?? []);
  const remedies = [...new Set(obstacles.flatMap(({ unblockedBy }) => unblockedBy))];
  return remedies.length > 0 ? remedies : OF_ANY_OBSTACLE;
}

const ROLL_BACK = 'or roll back with kubectl rollout undo';

/** The remedies that would let a node pull an image, by the kubelet's reason and the registry's words. */
export function imageRemedies({
  message = '',
  pullSecrets = [],
  reason,
}: Pick<ClassifiedPod, 'message' | 'pullSecrets' | 'reason'>): readonly string[] {
  if (reason === 'InvalidImageName')
    return ['correct the reference of the image (kubectl set image)', ROLL_BACK];
  if (reason === 'ErrImageNeverPull')
    return ['load the image on the nodes, or change imagePullPolicy, which is Never', ROLL_BACK];
  const [first] = pullSecrets;
  const access =
    first === undefined
      ? 'or, if the registry is private, give the pods an imagePullSecret'
      : `or, if the registry is private, see that the imagePullSecrets exist and are valid: kubectl get secret ${pullSecrets.join(' ')}`;
  if (
    first !== undefined &&
    /unauthori[sz]ed|denied|forbidden|authenti|authori[sz]ation|pull secret/i.test(message)
  )
    return [
      `create the Secret ${first} that imagePullSecrets names, or correct its credentials: kubectl get secret ${pullSecrets.join(' ')}`,
      'or correct the image (kubectl set image)',
      ROLL_BACK,
    ];
  if (/toomanyrequests|rate limit/i.test(message))
    return ['wait for the rate limit of the registry, or pull with an account (imagePullSecrets)', ROLL_BACK];
  if (/no such host|connection refused|i\/o timeout|deadline exceeded|TLS handshake|x509/i.test(message))
    return ['make the registry reachable from the nodes: its name, its port, its certificate', ROLL_BACK];
  return [`correct the image (kubectl set image), or push it`, access, ROLL_BACK];
}

/**
 * Controllers of kube-controller-manager 1.36 without a counterpart here, with their accepted older names: what they
 * manage is not part of a standalone cluster, is done by the embedded API server, or is left to the cluster's own
 * control plane. A `--controllers` list written for kube-controller-manager may contain them. Source:
 * cmd/kube-controller-manager/names and the descriptors in cmd/kube-controller-manager/app.
 */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'clusterrole-aggregation-controller': ['clusterrole-aggregation'],
  'kube-apiserver-serving-clustertrustbundle-publisher-controller': [],
  'podcertificaterequest-cleaner-controller': [],
  'resourcequota-controller': ['resourcequota'],
  'selinux-warning-controller': [],
  'storage-version-migrator-controller': [],
  'storageversion-garbage-collector-controller': ['storage-version-gc'],
  'validatingadmissionpolicy-status-controller': ['validatingadmissionpolicy-status'],
};

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(ELSEWHERE).flatMap(([name, aliases]) => [name, ...aliases].map((each) => [each, name])),
);

/** The canonical name of a genuine controller without a counterpart here, for any of its names. */
export function genuineControllerElsewhere(name: string): string | undefined {
  return NAMES.get(name);
}

/** The canonical names of all of them. */
export function genuineControllersElsewhere(): readonly string[] {
  return Object.keys(ELSEWHERE);
}

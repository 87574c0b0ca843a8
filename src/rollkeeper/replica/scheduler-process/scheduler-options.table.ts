import { file, onOrOff, text, wholeNumber } from '@rollkeeper/machinery/options/option-table';

/** The files of a scheduler's settings, for the commands that run one beside something else. */
export const SCHEDULER_FILE_OPTIONS = {
  'scheduler-config': file({
    help: 'KubeSchedulerConfiguration v1 of the scheduler, YAML or JSON',
    shownDefault: "kube-scheduler's default profile",
  }),
  'scheduler-plugins': file({
    help: 'module that exports a scheduler plug-in, or a list of them, as default',
  }),
};

/** The files of simulated nodes' properties, for the commands that start some. */
export const NODE_FILE_OPTIONS = {
  'node-profiles': file({
    help: 'profiles of the simulated nodes, YAML or JSON: labels, taints, capacity, images, timing',
    shownDefault: 'identical nodes',
  }),
};

/** The options of `rollkeeper scheduler`. */
export const SCHEDULER_OPTIONS_TABLE = {
  kubeconfig: file({ help: 'the cluster to use', shownDefault: "kubectl's rules" }),
  config: file({
    help: 'KubeSchedulerConfiguration v1, YAML or JSON',
    shownDefault: "kube-scheduler's default profile",
  }),
  'policy-config-file': file({ help: 'policy file of predicates and priorities; deprecated, use --config' }),
  plugins: file({ help: 'module that exports a plug-in, or a list of them, as default' }),
  'scheduler-name': text({
    help: 'schedulerName of the pods to schedule, if --config names no profiles',
    value: 'name',
    notEmpty: 'must be a name',
    shownDefault: 'default-scheduler',
  }),
  'leader-elect': onOrOff({
    help: 'schedule only while holding the Lease; several may run',
    default: true,
  }),
  lease: text({
    help: 'the Lease; overrides --config',
    value: 'namespace/name',
    pattern: { matches: /^[a-z0-9-]+\/[a-z0-9.-]+$/, says: 'must be namespace/name' },
    shownDefault: 'kube-system/rollkeeper-scheduler',
  }),
  identity: text({
    help: 'holder of the Lease, unique per process',
    value: 'name',
    notEmpty: 'must be a name',
    env: 'POD_NAME',
    shownDefault: 'host name and a random suffix',
  }),
  'metrics-port': wholeNumber({
    help: 'serve /metrics, /livez and /readyz on this port; 0 lets the system choose',
    value: 'port',
    least: 0,
    most: 65_535,
  }),
  'metrics-host': text({
    help: 'address of that port',
    value: 'address',
    notEmpty: 'must be an address',
    default: '127.0.0.1',
  }),
};

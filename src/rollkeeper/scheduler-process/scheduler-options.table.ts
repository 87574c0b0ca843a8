import { file, onOrOff, text, wholeNumber } from '@rollkeeper/machinery/options/option-table';

/** Where a scheduler's settings are, for the commands that run one beside something else. */
export const SCHEDULER_FILE_OPTIONS = {
  'scheduler-config': file({
    help: 'KubeSchedulerConfiguration v1 of the scheduler, YAML or JSON',
    shownDefault: "kube-scheduler's default profile",
  }),
  'scheduler-plugins': file({
    help: 'module whose default export is a plug-in of the scheduler, or a list of them',
  }),
};

/** What simulated nodes are like, for the commands that start some. */
export const NODE_FILE_OPTIONS = {
  'node-profiles': file({
    help: 'profiles of the simulated nodes, YAML or JSON: labels, taints, capacity, images, timing',
    shownDefault: 'all nodes are alike',
  }),
};

/** The options of `rollkeeper scheduler`. */
export const SCHEDULER_OPTIONS_TABLE = {
  kubeconfig: file({ help: 'the API to schedule on', shownDefault: 'as kubectl finds it' }),
  config: file({
    help: 'KubeSchedulerConfiguration v1, YAML or JSON',
    shownDefault: "kube-scheduler's default profile",
  }),
  'policy-config-file': file({ help: 'policy file of predicates and priorities; deprecated, use --config' }),
  plugins: file({ help: 'module whose default export is a plug-in, or a list of them' }),
  'scheduler-name': text({
    help: 'the schedulerName of the pods that are scheduled, where --config names no profiles',
    value: 'name',
    notEmpty: 'must be a name',
    shownDefault: 'default-scheduler',
  }),
  'leader-elect': onOrOff({
    help: 'schedule only while holding the Lease, so that several may run',
    default: true,
  }),
  lease: text({
    help: 'the Lease, over what --config names',
    value: 'namespace/name',
    pattern: { matches: /^[a-z0-9-]+\/[a-z0-9.-]+$/, says: 'must be namespace/name' },
    shownDefault: 'kube-system/rollkeeper-scheduler',
  }),
  identity: text({
    help: 'holder of the Lease, unique to the process',
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
    help: 'address to serve them on',
    value: 'address',
    notEmpty: 'must be an address',
    default: '127.0.0.1',
  }),
};

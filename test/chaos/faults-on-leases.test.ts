import { describeEachFault } from './each-fault.js';

describeEachFault('three replicas without a Redis go on', 'leases');

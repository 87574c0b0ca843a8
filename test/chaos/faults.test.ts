import { describeEachFault } from './each-fault.js';

describeEachFault('three replicas go on', 'redis');

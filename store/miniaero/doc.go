// Package miniaero is a server that speaks the Aerospike wire protocol, so that code which uses the real client can
// be run and tested where there is no Aerospike: over a real socket, in memory, in this process or one of its own.
//
//	s := miniaero.RunT(t)                                   // closed with the test
//	client, err := aerospike.NewClient(host, port)          // of s.Addr()
//	s.FastForward(time.Hour)                                // what has a TTL of less is gone
//	rec, ok := s.Get(miniaero.Key{Namespace: "test", Set: "users", ID: "ann"})
//
// It answers as Aerospike Community Edition 8.1.2 does, and is tested against captures of one. It knows nothing of
// what is kept in it, and imports nothing else of this module.
//
// # What it does
//
// One node that owns all partitions. Info: connecting and tending, namespaces, sets, statistics, truncate. Get (all
// bins, some, the header), exists, put with every record-exists action and generation policy, delete, touch, TTLs.
// Operate with read, write, add, append, prepend, touch, delete, and list and map operations by index, rank, key and
// value. Batches that read, operate and delete. Scans with limits and continuation, queries over numeric indexes.
// Filter expressions that compare bins and combine comparisons. An operation on one record is atomic, and one step
// of its generation.
//
// # What it does not
//
//   - Clusters, security, TLS, persistence, replication, compression (EnterpriseOnly, as a real one says) and durable
//     deletes (likewise). A message of the security protocol resets the connection.
//   - User-defined functions (code 100), background scans and queries.
//   - Paths into nested lists and maps, ordered lists, write flags of lists, relative ranks and indexes; bit, HyperLogLog
//     and geographic operations; expressions as operations: ParameterError. Flags of map writes likewise.
//   - Secondary indexes other than of whole numeric bins: a query looks at all records.
//   - Reads that renew a TTL (ReadTouchTTLPercent): they only read.
//   - Nested values over 64 deep.
package miniaero

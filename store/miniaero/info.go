package miniaero

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// features are what clients look for before they use a feature. Only what this server does is listed.
const features = "batch-any;batch-index;cdt-list;cdt-map;cluster-stable;float;peers;pipelining;pquery;pscans;" +
	"query-show;relaxed-sc;replicas;replicas-all;replicas-master;replicas-max;sindex-exists;truncate-namespace"

// allPartitions is the map of a node that owns all of them.
var allPartitions = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xFF}, partitionCount/8))

// info answers one frame of the info protocol: each name, a tab, its value.
func (c *session) info(body []byte) bool {
	if _, ok := c.strike(KindInfo, nil); !ok {
		return false
	}
	var start int
	c.out, start = beginFrame(c.out)
	for _, name := range infoNames(body) {
		c.out = append(c.out, name...)
		c.out = append(c.out, '\t')
		c.out = append(c.out, c.infoValue(name)...)
		c.out = append(c.out, '\n')
	}
	endFrame(c.out, start, typeInfo)
	return true
}

// maxInfoNames bounds what one frame may ask, so that the answer stays in proportion.
const maxInfoNames = 256

// infoNames are the names in a request, each on a line; empty lines are none.
func infoNames(body []byte) []string {
	var names []string
	for line := range bytes.SplitSeq(body, []byte{'\n'}) {
		if len(line) > 0 && len(names) < maxInfoNames {
			names = append(names, string(line))
		}
	}
	return names
}

func (c *session) infoValue(name string) string {
	s := c.server
	command, parameters, _ := strings.Cut(name, ":")
	command, path, _ := strings.Cut(command, "/")
	switch command {
	case "build":
		return s.options.Build
	case "version", "edition":
		return "miniaero"
	case "node":
		return s.options.NodeName
	case "cluster-name":
		return s.options.ClusterName
	case "status":
		return "ok"
	case "features":
		return features
	case "partition-generation", "peers-generation", "rebalance-generation":
		return "0"
	case "replicas":
		return s.replicas()
	case "rack-ids":
		return strings.Join(s.names, ":0;") + ":0"
	case "peers-clear-std", "peers-clear-alt":
		return "0,3000,[]"
	case "service", "service-clear-std", "service-clear-alt":
		return c.service()
	case "services", "services-alternate":
		return ""
	case "namespaces":
		return strings.Join(s.names, ";")
	case "namespace":
		return s.namespaceInfo(path)
	case "sets":
		return s.setsInfo(path)
	case "statistics":
		return s.statistics()
	case "truncate":
		return s.truncateInfo(parameters, true)
	case "truncate-namespace":
		return s.truncateInfo(parameters, false)
	case "sindex-create", "sindex-delete", "sindex-exists", "sindex":
		return s.indexInfo(command, path, parameters)
	}
	return "ERROR:4:unrecognized command"
}

// service is where clients are to connect.
func (c *session) service() string {
	if a := c.server.options.Advertise; len(a) > 0 {
		return strings.Join(a, ",")
	}
	return c.conn.LocalAddr().String()
}

func (s *Server) replicas() string {
	parts := make([]string, len(s.names))
	for i, name := range s.names {
		parts[i] = name + ":0,1," + allPartitions
	}
	return strings.Join(parts, ";")
}

func (s *Server) namespaceInfo(name string) string {
	ns := s.namespaces[name]
	if ns == nil {
		return "ERROR:4:unknown namespace"
	}
	full := ns.limits.memory > 0 && ns.used.Load() >= ns.limits.memory
	return fmt.Sprintf("objects=%d;data_used_bytes=%d;stop_writes=%t;replication-factor=1;default-ttl=%d;max-record-size=%d",
		ns.count.Load(), ns.used.Load(), full, int64(ns.limits.ttl/time.Second), ns.limits.recordSize)
}

// setsInfo answers "sets", "sets/NAMESPACE" and "sets/NAMESPACE/SET".
func (s *Server) setsInfo(path string) string {
	name, set, one := strings.Cut(path, "/")
	var b strings.Builder
	for _, n := range s.names {
		if name != "" && n != name {
			continue
		}
		ns := s.namespaces[n]
		for _, v := range ns.setNames() {
			if one && v != set {
				continue
			}
			id, _ := ns.lookupSet([]byte(v))
			fmt.Fprintf(&b, "ns=%s:set=%s:objects=%d:tombstones=0:truncate_lut=0:stop-writes-count=0;", n, v, ns.objects[id].Load())
		}
	}
	if name != "" && s.namespaces[name] == nil {
		return "ERROR:4:unknown namespace"
	}
	return b.String()
}

func (s *Server) statistics() string {
	var objects int64
	for _, ns := range s.namespaces {
		objects += ns.count.Load()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cluster_size=1;cluster_integrity=true;migrate_partitions_remaining=0;client_connections=%d;objects=%d",
		s.Connections(), objects)
	for k := range kinds {
		fmt.Fprintf(&b, ";%s_calls=%d", k, s.counts[k].Load())
	}
	return b.String()
}

// infoParameters splits "namespace=test;set=demo"; false when a part has no name.
func infoParameters(text string) (map[string]string, bool) {
	m := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		if part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, false
		}
		m[name] = value
	}
	return m, true
}

// truncateInfo removes the records of a set or a namespace that were last changed before lut, in nanoseconds
// since 1970, or before now.
func (s *Server) truncateInfo(text string, needsSet bool) string {
	p, ok := infoParameters(text)
	ns := s.namespaces[p["namespace"]]
	switch {
	case !ok || p["namespace"] == "":
		return "ERROR:4:bad or missing namespace"
	case ns == nil:
		return "ERROR:4:unknown namespace"
	case needsSet && p["set"] == "":
		return "ERROR:4:bad or missing set"
	}
	lut := s.clock.now().UnixNano()
	if v, given := p["lut"]; given {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n <= 0 || n > lut {
			return "ERROR:4:bad lut"
		}
		lut = n
	}
	all := !needsSet
	var set uint16
	if needsSet {
		id, known := ns.lookupSet([]byte(p["set"]))
		if !known {
			return "ok"
		}
		set = id
	}
	ns.removeIf(func(r *record) bool { return (all || r.set == set) && r.updated <= lut })
	return "ok"
}

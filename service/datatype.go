package service

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Where the data types are: the published layout, so that a database that is filled already serves as it is.
const (
	DataTypeSet  = "data_type_def"
	BinCnName    = "cnname"
	BinCodeID    = "code_id"
	DataTypeLock = "data_type_lock" // the set of the locks, under the same ids
	binOwner     = "owner"
)

// MaxName bounds group and name in bytes: room for any real one, and errors that quote one stay short.
const MaxName = 256

// The messages of a request that names no data type, over every protocol.
const (
	MsgEmptyName = "group and name must not be empty"
	MsgLongName  = "group and name must not be longer than 256 bytes each"
)

// Echo implements DataAPI.
func (s *Service) Echo(ctx context.Context, p Payload) (Payload, error) {
	if err := ctx.Err(); err != nil {
		return Payload{}, answerable(err)
	}
	return p, nil
}

func dataTypeID(group, name string) string { return group + "|" + name }

// DataType implements DataAPI. A record that is in the store takes one read, and for a data type of the catalogue
// there is nothing to allocate.
func (s *Service) DataType(ctx context.Context, r DataTypeRequest) (DataType, error) {
	token := r.Auth.Token
	if s.auth {
		var err error
		if token, err = s.tokens.check(r.Auth, s.now()); err != nil {
			return DataType{}, err
		}
	}
	switch {
	case r.Group == "" || r.Name == "":
		return DataType{}, Errorf(InvalidArgument, MsgEmptyName)
	case len(r.Group) > MaxName || len(r.Name) > MaxName:
		return DataType{}, Errorf(InvalidArgument, MsgLongName)
	}
	k := Key{Set: DataTypeSet}
	entry := catalogue().byName[pair{r.Group, r.Name}]
	if entry != nil {
		k.ID = entry.id
	} else {
		k.ID = dataTypeID(r.Group, r.Name)
	}
	rec, err := s.store.Get(ctx, k)
	if errors.Is(err, ErrNotFound) {
		if entry == nil {
			return DataType{}, Errorf(NotFound, "no data type %q in group %q", r.Name, r.Group)
		}
		rec, err = s.fill(ctx, k, entry.CatalogueEntry)
	}
	if err != nil {
		return DataType{}, answerable(err)
	}
	code, okCode := rec.Bins[BinCodeID].(int64)
	name, okName := rec.Bins[BinCnName].(string)
	if !okCode || !okName {
		return DataType{}, Errorf(Internal, "record %s of set %s: bins %s and %s must be an integer and a string", k.ID, k.Set, BinCodeID, BinCnName)
	}
	return DataType{Token: token, CodeID: code, CnName: name}, nil
}

// fill puts a missing record into the store under a lock, so that of all the callers of all servers that miss it
// one writes and the others wait and read what it wrote. It answers with the record as the store has it.
func (s *Service) fill(ctx context.Context, k Key, entry CatalogueEntry) (Record, error) {
	until := s.now().Add(s.lockWait)
	for try := 0; ; try++ {
		l, err := s.lock(ctx, k.ID)
		if err == nil {
			rec, err := s.fillLocked(ctx, k, entry)
			s.unlock(ctx, l)
			return rec, err
		}
		if !errors.Is(err, ErrExists) {
			return Record{}, err
		}
		if !s.now().Before(until) {
			return Record{}, &Error{Code: Unavailable, Cause: "lock_wait",
				Msg: "another call has held the lock on " + k.ID + " for longer than " + s.lockWait.String()}
		}
		if err := pause(ctx, try); err != nil {
			return Record{}, err
		}
		if rec, err := s.store.Get(ctx, k); !errors.Is(err, ErrNotFound) {
			return rec, err
		}
	}
}

// fillLocked writes the record if it is still missing: another may have filled it between our miss and our lock.
// It creates and never overwrites, so that even two owners at a time, as a stalled one can cause, leave one record.
func (s *Service) fillLocked(ctx context.Context, k Key, entry CatalogueEntry) (Record, error) {
	err := s.store.Create(ctx, k, Bins{BinCodeID: entry.Code, BinCnName: entry.CnName}, 0)
	if err != nil && !errors.Is(err, ErrExists) {
		return Record{}, err
	}
	return s.store.Get(ctx, k)
}

// pause waits for about 1 ms at first and up to about 16 ms later, each time for a random part of that, so that
// those who wait do not all come back at once.
func pause(ctx context.Context, try int) error {
	span := time.Millisecond << min(try, 4)
	timer := time.NewTimer(span/2 + rand.N(span/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func isCancelled(err error) bool {
	var e *Error
	return errors.Is(err, context.Canceled) && !errors.As(err, &e)
}

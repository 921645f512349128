"""The three binary framings of XiaoZhi devices (xiaozhi-esp32 main/protocols/protocol.h); big-endian."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.string cimport memcpy

from vanling.core.checks cimport type_error, whole_number

from enum import IntEnum

from vanling.errors import FramingError


class Kind(IntEnum):
    """What a binary frame carries."""

    OPUS = 0
    JSON = 1


OPUS = Kind.OPUS
JSON = Kind.JSON

cdef tuple KINDS = (Kind.OPUS, Kind.JSON)

cdef enum:
    HEADER_2 = 16
    HEADER_3 = 4


def pack(version, payload, timestamp_ms=0, kind=OPUS):
    """One binary message."""
    cdef int form = _known(version)
    cdef long long when = whole_number(timestamp_ms, "timestamp_ms", 0, 0xFFFFFFFF)
    cdef int what = <int>whole_number(kind, "kind", 0, 1)
    cdef Py_buffer view
    _open(payload, &view, "payload")
    try:
        return _packed(form, <const unsigned char *>view.buf, view.len, when, what)
    finally:
        PyBuffer_Release(&view)


def unpack(version, data):
    """(kind, timestamp_ms, payload) of one binary message."""
    cdef int form = _known(version)
    cdef Py_buffer view
    if form == 1:
        return OPUS, 0, data if type(data) is bytes else _copied(data)
    _open(data, &view, "data")
    try:
        return _unpacked(form, <const unsigned char *>view.buf, view.len)
    finally:
        PyBuffer_Release(&view)


cdef bytes _packed(int form, const unsigned char *payload, Py_ssize_t size, long long when, int kind):
    cdef Py_ssize_t header = 0 if form == 1 else HEADER_2 if form == 2 else HEADER_3
    if form == 1 and kind != 0:
        raise FramingError("version 1 frames have no header: they carry Opus only")
    if form == 2 and size > 0xFFFFFFFF or form == 3 and size > 0xFFFF:
        raise FramingError(f"a payload of {size} bytes does not fit the size field of a version {form} frame")
    cdef bytes frame = PyBytes_FromStringAndSize(NULL, header + size)
    cdef unsigned char *at = <unsigned char *>PyBytes_AS_STRING(frame)
    if form == 2:
        _put16(at, 2)
        _put16(at + 2, kind)
        _put32(at + 4, 0)
        _put32(at + 8, <unsigned int>when)
        _put32(at + 12, <unsigned int>size)
    elif form == 3:
        at[0] = <unsigned char>kind
        at[1] = 0
        _put16(at + 2, <unsigned int>size)
    memcpy(at + header, payload, size)
    return frame


cdef tuple _unpacked(int form, const unsigned char *data, Py_ssize_t size):
    cdef Py_ssize_t header = HEADER_2 if form == 2 else HEADER_3
    cdef unsigned int kind, when = 0
    cdef Py_ssize_t wanted
    if size < header:
        raise FramingError(f"a version {form} frame of {size} bytes; its header alone has {header}")
    if form == 2:
        if _get16(data) != 2:
            raise FramingError(f"a version 2 frame says that it is version {_get16(data)}")
        kind = _get16(data + 2)
        when = _get32(data + 8)
        wanted = _get32(data + 12)
    else:
        kind = data[0]
        wanted = _get16(data + 2)
    if kind > 1:
        raise FramingError(f"a version {form} frame of kind {kind}; known are 0 (Opus) and 1 (JSON)")
    if wanted != size - header:
        raise FramingError(f"a version {form} frame says {wanted} bytes of payload and carries {size - header}")
    return KINDS[kind], when, PyBytes_FromStringAndSize(<const char *>data + header, wanted)


cdef int _known(object version) except -1:
    cdef long long form = whole_number(version, "version", -0x7FFFFFFF, 0x7FFFFFFF)
    if not 1 <= form <= 3:
        raise FramingError(f"binary framing version {form}; known are 1, 2 and 3")
    return <int>form


cdef bytes _copied(object data):
    cdef Py_buffer view
    _open(data, &view, "data")
    try:
        return PyBytes_FromStringAndSize(<const char *>view.buf, view.len)
    finally:
        PyBuffer_Release(&view)


cdef int _open(object data, Py_buffer *view, str name) except -1:
    try:
        return PyObject_GetBuffer(data, view, PyBUF_SIMPLE)
    except (TypeError, BufferError):
        raise type_error(f"{name} is {type(data).__name__}; wanted bytes") from None


cdef inline void _put16(unsigned char *at, unsigned int value) noexcept nogil:
    at[0] = <unsigned char>(value >> 8)
    at[1] = <unsigned char>value


cdef inline void _put32(unsigned char *at, unsigned int value) noexcept nogil:
    _put16(at, value >> 16)
    _put16(at + 2, value & 0xFFFF)


cdef inline unsigned int _get16(const unsigned char *at) noexcept nogil:
    return (<unsigned int>at[0] << 8) | at[1]


cdef inline unsigned int _get32(const unsigned char *at) noexcept nogil:
    return (_get16(at) << 16) | _get16(at + 2)

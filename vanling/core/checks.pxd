"""What every compiled module asks of its arguments; inlined, so that a good call pays only comparisons.

The error classes are imported where they are raised: the way of a good call never touches them.
"""

cimport numpy as cnp
from cpython.long cimport PyLong_AsLongLongAndOverflow
from cpython.number cimport PyNumber_Index


cdef inline object type_error(str message):
    from vanling.errors import AudioTypeError

    return AudioTypeError(message)


cdef inline object value_error(str message):
    from vanling.errors import AudioValueError

    return AudioValueError(message)


cdef inline long long whole_number(object value, str name, long long low, long long high) except? -1:
    """An int within low..high; a bool, a float or anything else is refused."""
    cdef int overflow = 0
    cdef long long number
    if not isinstance(value, int) or isinstance(value, bool):
        value = _from_index(value, name)
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow or not low <= number <= high:
        raise value_error(f"{name} is {value}; wanted {low} to {high}")
    return number


cdef inline object _from_index(object value, str name):
    if hasattr(value, "__index__") and not isinstance(value, bool):  # numpy's ints
        return PyNumber_Index(value)
    raise type_error(f"{name} is {type(value).__name__} {value!r}; wanted an int")


cdef inline double real_number(object value, str name, double low, double high) except? -1.0:
    """A finite number within low..high."""
    cdef double number
    if isinstance(value, float):
        number = value
    elif isinstance(value, bool) or isinstance(value, (str, bytes)):
        raise type_error(f"{name} is {type(value).__name__} {value!r}; wanted a number")
    else:
        try:
            number = float(value)
        except (TypeError, OverflowError):
            raise type_error(f"{name} is {type(value).__name__}; wanted a number") from None
    if not low <= number <= high:  # false for NaN too
        raise value_error(f"{name} is {value}; wanted {low:g} to {high:g}")
    return number


cdef inline int audio_type(object pcm, int channels) except -1:
    """NPY_INT16 or NPY_FLOAT32 of an array that a kernel can read as it lies.

    That is native, C-contiguous and of shape (n,) or (n, channels); channels 0 takes any shape.
    """
    cdef cnp.ndarray array
    cdef int kind
    if not cnp.PyArray_Check(pcm):
        raise type_error(f"audio is {type(pcm).__name__}; wanted a numpy array of int16 or float32")
    array = <cnp.ndarray>pcm
    kind = cnp.PyArray_TYPE(array)
    if (kind != cnp.NPY_INT16 and kind != cnp.NPY_FLOAT32) or not cnp.PyArray_ISNOTSWAPPED(array):
        raise type_error(f"audio is an array of {array.dtype!r}; wanted int16 or float32 in this machine's byte order")
    if channels == 1 and cnp.PyArray_NDIM(array) != 1:
        raise value_error(f"audio has shape {pcm.shape}; wanted (n,), mono")
    if channels > 1 and (cnp.PyArray_NDIM(array) != 2 or cnp.PyArray_DIM(array, 1) != channels):
        raise value_error(f"audio has shape {pcm.shape}; wanted (n, {channels})")
    if not cnp.PyArray_IS_C_CONTIGUOUS(array) or not cnp.PyArray_ISALIGNED(array):
        raise value_error("audio is not C-contiguous and aligned in memory; pass numpy.ascontiguousarray(pcm)")
    return kind


cdef inline int need_int16(object pcm, int channels) except -1:
    if audio_type(pcm, channels) != cnp.NPY_INT16:
        raise type_error("audio is an array of float32; wanted int16 (vanling.core.pcm.float32_to_int16 converts)")
    return 0
